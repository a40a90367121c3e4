// The interface of a view: it shows a run while the run is computed.
#pragma once

#include <iosfwd>

#include "run/simulation.h"

namespace nbody {

// Shows a run, and decides when each call of simulate() begins.
class RunView : public StepScheduler {
 public:
  // Prints the address to open.
  virtual void print_address(std::ostream& out) const = 0;
  // Shows the last state until the program is interrupted.
  virtual void hold(std::ostream& out) = 0;
};

}  // namespace nbody
