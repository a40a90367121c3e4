// The main program of every step, without its live view: the caller chooses the view.
#pragma once

#include <iosfwd>
#include <memory>

#include "nbody/step.h"
#include "run/job.h"
#include "run/simulation.h"
#include "support/platform.h"

namespace nbody {

// Shows a run while it is computed, and decides when each call of simulate() begins.
class RunView : public StepScheduler {
 public:
  // Prints the address to open.
  virtual void print_address(std::ostream& out) const = 0;
  // Shows the last state until the program is interrupted.
  virtual void hold(std::ostream& out) = 0;
};

// Opens the view that the option --view requests, at this port of 127.0.0.1 (0: any free port).
using OpenView = std::unique_ptr<RunView> (*)(int port, const StepInfo& info,
                                              const Platform& platform, const Job& job,
                                              bool may_change_forces);

// Does what run_step() of nbody/step.h does, with the view that `open_view` opens.
int run_step_program(const StepInfo& info, Simulate simulate, QueryDevice query, OpenView open_view,
                     int argc, char** argv);

}  // namespace nbody
