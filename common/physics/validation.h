// Is what a step computes right? Every gate is written so that NaN fails it.
//
// Of the step itself, on the input of the run (five time steps in all, so this works at any N):
//   acceleration_rms   one kick of length 1 from rest makes the velocity the acceleration, exactly;
//                      |a - a_ref| / |a_ref|, root mean square over bodies, the worst system
//   acceleration_p99   |a - a_ref| / sum_j |a_ij|, the 99th percentile, the worst system
//   kick_drift         v1 = v0 + a dt and x1 = x0 + v1 dt, every body, to float32 rounding
//   composition        two steps in one call are one step twice: nothing of one step leaks into
//                      the next, and nothing a step needs is missing after it
// Of the run:
//   mass               no body's mass changed
//   momentum           |dP| / sum m (|v| + |a| t): exact in this scheme but for rounding
//   angular_momentum   likewise; kick-drift conserves both whatever the time step. A position or a
//                      velocity that is NaN or infinite, of a massless body too, fails one of them
//   trajectory         (full only) positions against float64, RMS over the system's extent. Its
//                      limit is a multiple of how far rounding the state to float32 alone leads
//                      the float64 trajectory astray; where that is more than 1 % the motion is
//                      chaotic, and the gate is reported as undecidable rather than passed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nbody/bodies.h"
#include "nbody/step.h"

namespace nbody {

enum class ValidationMode { automatic, full, sampled, off };

struct Gate {
  std::string name;
  double value = 0;
  double limit = 0;
  bool decidable = true;
  bool passed() const { return !decidable || value <= limit; }  // false for NaN
};

struct Validation {
  std::vector<Gate> gates;
  bool sampled = false;  // accelerations of some bodies of every system, no trajectory
  bool passed() const;
  double value(const std::string& gate) const;  // NaN when there is no such gate
};

// Advances systems as the step does.
using Advance = std::function<void(const Run&, Systems&)>;

struct ValidationInput {
  const StepInfo& info;
  Run run;                 // dt, all the steps of the run, softening
  double leading_drift;    // leapfrog: half a step before the first kick; 0 for Euler
  const Systems& initial;  // as read: positions and velocities at the same time
  const Systems& final;    // likewise
};

// full checks every body and the trajectory; sampled some bodies of every system (always the first
// and the last); automatic is full up to about 4e8 interactions. `off` is not for here.
Validation validate(const ValidationInput& input, ValidationMode mode, const Advance& advance);

// The bound on the relative RMS error of an acceleration in float32 for a step's way of summing.
double acceleration_rms_limit(Summation summation, int bodies_per_system);

}  // namespace nbody
