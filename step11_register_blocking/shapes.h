// Chooses the shape of this step's launches: the number of bodies per thread and of sources per
// block.
#pragma once

#include "nbody/shape.h"

namespace {

struct Shape {
  int bodies_per_thread;
  int chunk;  // the number of sources per block, a multiple of the tile
};

// Returns the shape for blocks of `tile` threads, with up to `max_chunks` partial sums per body.
inline Shape shape_for(int systems, int n, int sources, int tile, int max_chunks) {
  const auto blocks_for = [tile](int bodies, int k) { return (bodies - 1) / (tile * k) + 1; };
  std::vector<Shape> shapes;
  for (const int k : {4, 2, 1}) {
    for (int chunks = 1; chunks <= max_chunks; ++chunks) {
      shapes.push_back({k, blocks_for(sources, chunks) * tile});
    }
  }
  // K interactions take 14 K issue slots; the load of their source and the loop take three more.
  // Writing a partial sum and adding it up takes 0.004 slots per SM when all SMs share this work.
  return nbody::least_work(systems, n, shapes, [&](const Shape& shape) -> nbody::Cost {
    const auto [k, chunk] = shape;
    const int chunks = (sources - 1) / chunk + 1;
    return {.blocks = 1.0 * systems * blocks_for(n, k) * chunks,
            .slots = (14.0 * k + 3) * chunk,
            .side_by_side = 3,
            .besides = 0.004 * systems * n * chunks};
  });
}

}  // namespace
