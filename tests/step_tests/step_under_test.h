// The step whose tests are running: what its main() passed to step_main().
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

// The step's simulate(), on every device the step can use. With leapfrog, the half drifts around
// it. Without an approximation a step that goes down a tree opens every node.
Systems simulate(const Systems& start, double dt, int steps, double softening,
                 Integrator integrator = Integrator::euler, Approximation approximation = {});

// What the validator says of the step on this start; with leapfrog it starts half a step ahead.
Validation validated(const Systems& start, double dt, int steps, double softening,
                     ValidationMode mode = ValidationMode::full,
                     Integrator integrator = Integrator::euler, Approximation approximation = {});
// Runs the step from this start and returns which of the validator's gates failed.
std::string failed_gates(const Systems& start, double dt, int steps, double softening,
                         ValidationMode mode = ValidationMode::full,
                         Approximation approximation = {});
// The same of the step's float64, which it must have.
std::string failed_gates_in_float64(const Systems& start, double dt, int steps, double softening);
// The same of a single step, without those gates that need further ones.
std::string failed_gates_of_one_step(const Systems& start, double dt, double softening);

// That of a step that goes down a tree, when nothing else is asked for.
Approximation own_approximation();

// Under a sanitizer an emulated GPU is too slow for the larger problems.
bool is_slow();

}  // namespace nbody::test
