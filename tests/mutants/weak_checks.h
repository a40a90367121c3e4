// Common checks of programs of this kind, each with one weakness and otherwise as good as
// possible. They run on the mutants for comparison with the validator's checks and do not affect
// the result.
#pragma once

#include "run/job.h"

namespace nbody::test {

// true: passed.
struct WeakChecks {
  bool one_short_step;  // positions after one step of dt 1e-3, within 5e-4: bodies hardly move
  bool a_quarter;       // positions after the run, of the first quarter of the bodies
  bool blind_to_nan;    // positions after the run, all; written as `error > tolerance` fails
  bool throughput;      // the run ended and a throughput was computed
};
WeakChecks weak_checks(const Job& job, Simulate simulate);

}  // namespace nbody::test
