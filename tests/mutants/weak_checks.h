// Checks that are common in programs like ours. Each has one weakness and is otherwise as good as
// possible. They run on the mutants, so that we can compare them with the validator's checks; they
// do not affect a mutant's result.
#pragma once

#include "run/job.h"

namespace nbody::test {

// true means that the check passed.
struct WeakChecks {
  bool one_short_step;  // positions after one step of dt 1e-3, to within 5e-4; bodies hardly move
  bool a_quarter;       // positions after the run, but only of the first quarter of the bodies
  bool blind_to_nan;    // all positions after the run; `error > tolerance` is false for NaN
  bool throughput;      // the run ended, and a throughput was computed
};
WeakChecks weak_checks(const Job& job, Simulate simulate);

}  // namespace nbody::test
