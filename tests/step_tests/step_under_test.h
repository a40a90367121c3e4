// The step whose tests are running: what its main() passed to step_main().
#pragma once

#include <string>

#include "io/snapshot_file.h"
#include "nbody/step.h"
#include "physics/validation.h"
#include "physics/vector3.h"

namespace nbody::test {

struct StepUnderTest {
  StepInfo info;
  Simulate simulate = nullptr;
  Platform platform;
};
const StepUnderTest& step();

// The step's simulate(), on every device the step can use. With leapfrog, the half drifts around
// it.
Systems simulate(const Systems& start, double dt, int steps, double softening,
                 Integrator integrator = Integrator::euler);

// Every gate of the validator, on this start; says which gate failed.
std::string failed_gates(const Systems& start, double dt, int steps, double softening,
                         ValidationMode mode = ValidationMode::full);

// Times that are honest on a GPU are too long on an emulated one, and longer under a sanitizer.
bool is_slow();

}  // namespace nbody::test
