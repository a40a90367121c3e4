// The two-dimensional simulation with an activity map, in all its variants (rungs): main.cpp
// measures them, the test checks them.
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

// The report's program has a mode for one thread and one for OpenMP next to that for CUDA.
enum class CpuMode { none, one_thread, openmp };

struct Rung {
  std::string_view name;
  int block;  // threads per block, unless --block gives another number
  CpuMode mode = CpuMode::none;
};

// In the report's order: each rung changes one thing in the best one so far, and the report then
// kept the change or dropped it. The last three are our own.
std::span<const Rung> rungs();

struct Outcome {
  std::vector<Body2d> bodies;
  std::vector<float> map;  // in the last step: each cell's share of all bodies; row 0: lowest y
  nbody::Timing timing;
};

// Runs on the first device. `block` is a multiple of 32 up to 1024.
Outcome simulate(const Rung& rung, int block, const Problem& problem,
                 const std::vector<Body2d>& bodies);

// Without a device, whatever platform() finds.
Outcome simulate_on_cpu(CpuMode mode, const Problem& problem, const std::vector<Body2d>& bodies);
nbody::Platform cpu_platform();

nbody::Platform platform();

}  // namespace activity
