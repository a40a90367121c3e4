// The parts of the extension module.
#pragma once

#include <nanobind/nanobind.h>

// Adds the functions read, write, scenario and scenarios to the module.
void bind_files(nanobind::module_& module);
