// The two-dimensional simulation with an activity map, rung by rung: main.cpp measures it, the test
// proves it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "nbody/step.h"
#include "support/platform.h"

namespace activity {

struct Body2d {
  float x, y, vx, vy, mass;
};

struct Problem {
  int cells;  // D: the map has D x D of them, over -extent <= x, y < extent
  float extent;
  int steps;
  float dt;
  float softening_squared;
};

struct Rung {
  std::string_view name;
  int block;  // threads per block, unless another number is asked for
};

// In the order of the report: each is the best so far with one thing changed, which was then kept
// or not. The last three are our own.
std::span<const Rung> rungs();

struct Outcome {
  std::vector<Body2d> bodies;
  std::vector<float> map;  // of the last step: each cell's share of all bodies; row 0: lowest y
  nbody::Timing timing;
};

// Runs on the first device. `block` is a multiple of 32 up to 1024.
Outcome simulate(const Rung& rung, int block, const Problem& problem,
                 const std::vector<Body2d>& bodies);

nbody::Platform platform();

}  // namespace activity
