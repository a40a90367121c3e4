// Chooses the shape of this step's launches: the number of bodies per lane and of warps per tile.
#pragma once

#include <cmath>

#include "nbody/shape.h"
#include "nbody/step.h"

namespace {

constexpr int kBlockSize = 128;  // threads per block of update_bodies
constexpr size_t kMaxBytes = size_t{TUNABLE(MAX_KIBIBYTES, 2 << 20)} << 10;  // for partial sums

struct Shape {
  int bodies_per_thread;
  int warps;
  // The kernel for launches in which no tile has equal masses, and the kernel for other launches.
  void (*kernels[2])(const float4*, const float*, float3*, int, int, size_t, float);
  int tile() const { return 32 * bodies_per_thread * warps; }
};

// Returns the cheapest shape with at least min_warps warps.
inline Shape shape_for(int systems, int n, int min_warps, std::vector<Shape> shapes) {
  std::erase_if(shapes, [&](const Shape& shape) { return shape.warps < min_warps; });
  // A pair takes 18 issue slots. K pairs take 8 more, to load the source and pass on its sum.
  // Adding up a partial sum takes 1.5 slots.
  return nbody::least_work(systems, n, shapes, [&](const Shape& shape) -> nbody::Cost {
    const double tile = shape.tile(), tiles = std::ceil(n / tile);
    return {.blocks = systems * tiles * std::floor(tiles / 2 + 1),
            .slots = tile * tile * (18 + 8.0 / shape.bodies_per_thread),
            .side_by_side = 16.0 / shape.warps,
            .besides = 1.5 * systems * n * (tiles + 1)};
  });
}

}  // namespace
