// Takes the place of a step's command line: writes the forces that the step's kernels compute, and
// measures the time of these kernels.
//
// usage: forces_of_STEP BODIES one|many FILE [STEPS [SYSTEMS]]
//
// After a time step of length 1 from rest, the velocities equal the accelerations. The program
// writes the accelerations to FILE as float32. With STEPS, it makes a run of this many time steps
// after each line on its standard input, and prints the time of the kernels per time step, in
// seconds. With SYSTEMS, a run has this many systems, one after the other; all have the same
// bodies. The program also prints the time of a single time step, whose kernels find the device
// idle: then the device waits for the host to launch them.
#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <string_view>

#include "forces.h"
#include "nbody/step.h"

namespace nbody {

int run_step(const StepInfo& info, Simulate simulate, QueryDevice, int argc, char** argv) {
  if (argc < 4) return 2;
  const int n = std::atoi(argv[1]);
  const bool one_mass = std::string_view(argv[2]) == "one";
  Run run{.dt = 1, .steps = 1, .softening_squared = kSoftening * kSoftening, .devices = 1};
  if (info.approximation) run.approximation = *info.approximation;
  Systems systems = make_bodies(n, one_mass);
  simulate(run, systems);
  std::vector<float> accelerations;
  for (const Body& body : systems.bodies)
    accelerations.insert(accelerations.end(), {body.vx, body.vy, body.vz});
  if (const int wrong = write_vectors(argv[3], accelerations)) return wrong;
  if (argc < 5) return 0;
  run.dt = 1e-6f;
  const int steps = std::atoi(argv[4]), count = argc > 5 ? std::atoi(argv[5]) : 1;
  const Systems one = make_bodies(n, one_mass);
  // Returns the time of the kernels per time step.
  const auto seconds = [&](int steps, int count) {
    systems = Systems(count, n);
    for (auto to = systems.bodies.begin(); to != systems.bodies.end(); to += n)
      std::copy(one.bodies.begin(), one.bodies.end(), to);
    run.steps = steps;
    return simulate(run, systems).compute / steps / count;
  };
  for (std::string line; std::getline(std::cin, line);) {
    const double in_a_row = seconds(steps, count);
    std::array<double, 5> alone;
    for (double& time : alone) time = seconds(1, 1);
    std::ranges::nth_element(alone, alone.begin() + alone.size() / 2);
    std::printf("%.9f %.9f\n", in_a_row, alone[alone.size() / 2]);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace nbody
