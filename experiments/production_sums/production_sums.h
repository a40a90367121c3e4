// Sums that production codes need besides the acceleration: the potential, and the jerk, the
// derivative of the acceleration, for Hermite integrators. main.cpp measures each, a test checks
// each.
#pragma once

#include <string>
#include <vector>

#include "nbody/bodies.h"
#include "support/platform.h"

namespace production {

struct Vector {
  double x, y, z;
};

// One element per body; sums that were not requested are empty.
struct Sums {
  std::vector<Vector> acceleration;
  std::vector<Vector> jerk;
  std::vector<double> potential;
};

struct Kind {
  std::string name;
  bool jerk;
  bool potential;
};
const std::vector<Kind>& all_kinds();

// Takes one pass over all pairs on the first device, `repeat` times after `warmup` more; returns
// the seconds of each pass.
struct Pass {
  Sums sums;
  std::vector<double> seconds;
};
Pass sum(const Kind& kind, const std::vector<nbody::Body>& bodies, double softening, int warmup,
         int repeat);

// Compares with float64 on the CPU, for bodies evenly spaced from the first to the last.
struct Errors {
  double acceleration = 0, jerk = 0, potential = 0;  // RMS, relative to the RMS
};
Errors errors(const Kind& kind, const std::vector<nbody::Body>& bodies, double softening,
              const Sums& sums, int compared);

nbody::Platform platform();

}  // namespace production
