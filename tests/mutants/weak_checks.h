// Checks as programs of this kind commonly have them, each with the one weakness it is here for and
// otherwise as good as it can be. They are run on the mutants to be compared with the validator's
// gates, and never decide anything.
#pragma once

#include "run/job.h"

namespace nbody::test {

// What each says: true for "passed".
struct WeakChecks {
  bool one_short_step;  // positions after one step of dt 1e-3, within 5e-4: hardly a body has moved
  bool a_quarter;       // positions after the run, of the first quarter of the bodies
  bool blind_to_nan;    // positions after the run, all; written as `error > tolerance` fails
  bool throughput;      // it came to its end and computed a throughput
};
WeakChecks weak_checks(const Job& job, Simulate simulate);

}  // namespace nbody::test
