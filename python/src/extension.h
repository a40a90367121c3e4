// The parts of the extension module.
#pragma once

#include <nanobind/nanobind.h>

// Adds read, write, scenario and scenarios.
void bind_files(nanobind::module_& module);
