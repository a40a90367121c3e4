// Chooses the shape of a launch as step 12 does, but as if there were only one rank, because the
// bits must not depend on the number of ranks.
#pragma once

#include <cmath>

#include "nbody/shape.h"
#include "step14_cluster/share.h"

namespace {

struct Shape {
  int bodies_per_thread;
  int warps;
  void (*kernel)(const Position*, const float*, float3*, const plan::Unit*, int, float);
  int tile() const { return 32 * bodies_per_thread * warps; }
};

inline Shape shape_for(int systems, int n, const std::vector<Shape>& shapes) {
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
