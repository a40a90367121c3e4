// The main program of every step, without its live view: the caller chooses the view.
#pragma once

#include <memory>

#include "nbody/step.h"

namespace nbody {

class RunView;
struct Job;
struct Platform;

// Opens the view that the option --view requests, at this port of 127.0.0.1 (0: any free port).
using OpenView = std::unique_ptr<RunView> (*)(int port, const StepInfo& info,
                                              const Platform& platform, const Job& job,
                                              bool may_change_forces);

// Does what run_step() of nbody/step.h does, with the view that `open_view` opens.
int run_step_program(const StepInfo& info, Simulate simulate, QueryDevice query, OpenView open_view,
                     int argc, char** argv);

}  // namespace nbody
