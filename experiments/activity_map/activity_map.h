// The two-dimensional simulation with an activity map, in all its variants (rungs). main.cpp
// measures the variants, and the test checks them.
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
  int cells;  // D: the map has D x D cells, over -extent <= x, y < extent
  float extent;
  int steps;
  float dt;
  float softening_squared;
};

// Besides its CUDA version, the report's program has a mode for one thread and a mode for
// OpenMP.
enum class CpuMode { none, one_thread, openmp };

struct Rung {
  std::string_view name;
  int block;  // threads per block unless --block is given
  CpuMode mode = CpuMode::none;
};

// The variants in the report's order. Each variant changes one thing in the best variant before it,
// and the report then kept or dropped the change. The last three variants are our own.
std::span<const Rung> rungs();

struct Outcome {
  std::vector<Body2d> bodies;
  std::vector<float> map;  // after the last step: each cell's share of all bodies; row 0: lowest y
  nbody::Timing timing;
};

// Runs on the first device. `block` must be a multiple of 32 and at most 1024.
Outcome simulate(const Rung& rung, int block, const Problem& problem,
                 const std::vector<Body2d>& bodies);

// Runs on the CPU even if platform() finds a device.
Outcome simulate_on_cpu(CpuMode mode, const Problem& problem, const std::vector<Body2d>& bodies);
nbody::Platform cpu_platform();

nbody::Platform platform();

}  // namespace activity
