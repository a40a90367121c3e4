// The step under test, given by the arguments that its main() passed to step_main().
#pragma once

#include <string>

#include "io/snapshot_file.h"
#include "nbody/step.h"
#include "physics/validation.h"
#include "physics/vector3.h"
#include "support/platform.h"

namespace nbody::test {

struct StepUnderTest {
  StepInfo info;
  Simulate simulate = nullptr;
  Platform platform;
};
const StepUnderTest& step();

// Runs the step's simulate() on all devices that it can use; with leapfrog, adds the half drifts.
// Without an approximation, a step that traverses a tree opens every node.
Systems simulate(const Systems& start, double dt, int steps, double softening,
                 Integrator integrator = Integrator::euler, Approximation approximation = {});

// Returns the validator's result for the step. With leapfrog, positions start half a step ahead.
Validation validated(const Systems& start, double dt, int steps, double softening,
                     ValidationMode mode = ValidationMode::full,
                     Integrator integrator = Integrator::euler, Approximation approximation = {});
// Runs the step from `start` and returns the names of the failed checks.
std::string failed_checks(const Systems& start, double dt, int steps, double softening,
                          ValidationMode mode = ValidationMode::full,
                          Approximation approximation = {});
// Like failed_checks(), but runs the step's float64 version, which must exist.
std::string failed_checks_in_float64(const Systems& start, double dt, int steps, double softening);
// Like failed_checks(), but takes a single time step, and omits the checks that need more of them.
std::string failed_checks_of_one_step(const Systems& start, double dt, double softening);

// Returns the default approximation of a step that traverses a tree.
Approximation own_approximation();

// True under a sanitizer, where an emulated GPU is too slow for the larger problems.
bool is_slow();

}  // namespace nbody::test
