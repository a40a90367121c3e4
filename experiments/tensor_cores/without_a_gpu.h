// If there is no GPU, the program without options compares the forces in a small Plummer sphere
// with float64 sums. The validation of a step would reject these forces, because they are less
// accurate than float32 sums. The test tensor_cores.force_error has the same limit (kLimit) for the
// error. A variant with unsplit operands (SPLIT=0) exceeds this limit a hundredfold.
#pragma once

#include <cstdio>

#include "nbody/step.h"
#include "physics/force_error.h"
#include "run/program.h"
#include "scenarios/initial_conditions.h"

inline int check_forces(nbody::Simulate simulate) {
  constexpr int kBodies = 1000;
  constexpr double kSoftening = 0.05, kLimit = 2e-5;
  const auto sphere =
      nbody::make_scenario(nbody::find_scenario("plummer"), {1, kBodies, 1, kSoftening});
  const auto softening_squared = static_cast<float>(kSoftening * kSoftening);
  double seconds = 0;
  const auto advance = [&](nbody::Systems& systems, double dt, int steps) {
    seconds = simulate({static_cast<float>(dt), steps, softening_squared, 1}, systems).compute;
  };
  const nbody::ForceError error =
      nbody::force_error<float>(sphere.systems, softening_squared, kBodies, advance);
  const bool right = error.p99 <= kLimit;
  std::printf("No GPU: only the forces of 1 x %d bodies (plummer) are checked, against float64.\n",
              kBodies);
  std::printf("  force error  RMS %.1e, median %.1e, 99 %% %.1e  limit for 99 %% %.0e  %s\n",
              error.rms, error.median, error.p99, kLimit, right ? "pass" : "FAIL");
  std::printf("  throughput   %.4f G interactions/s; emulated on a CPU: not a GPU time\n",
              1e-9 * kBodies * kBodies / seconds);
  std::printf("If you give options, this program simulates like a step; --help lists them.\n");
  return right ? 0 : 1;
}
