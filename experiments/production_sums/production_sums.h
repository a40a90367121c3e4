// Sums that production codes need besides the acceleration: the potential, and, for Hermite
// integrators, the jerk (the derivative of the acceleration). main.cpp measures each sum, and a
// test checks it.
#pragma once

#include <string>
#include <vector>

#include "nbody/bodies.h"
#include "support/platform.h"

namespace production {

struct Vector {
  double x, y, z;
};

// One element per body. A sum that was not requested is empty.
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

// The result of sum(). On the first device, sum() passes over all pairs `warmup` times untimed and
// then `repeat` times timed. `seconds` lists the time of each timed pass.
struct Pass {
  Sums sums;
  std::vector<double> seconds;
};
Pass sum(const Kind& kind, const std::vector<nbody::Body>& bodies, double softening, int warmup,
         int repeat);

// The errors relative to float64 sums on the CPU, for `compared` bodies that are evenly spaced
// among all bodies.
struct Errors {
  double acceleration = 0, jerk = 0, potential = 0;  // relative RMS errors
};
Errors errors(const Kind& kind, const std::vector<nbody::Body>& bodies, double softening,
              const Sums& sums, int compared);

nbody::Platform platform();

}  // namespace production
