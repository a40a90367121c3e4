// Chooses how a kernel's work is divided into blocks, given the numbers of bodies and SMs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "nbody/cuda.h"
#include "nbody/tuning.h"

namespace nbody {

// Returns the number of blocks per SM to request in __launch_bounds__. An SM of compute capability
// 7.5, 8.6 or 8.7 holds at most 16 blocks, however small (CUDA Programming Guide, table of compute
// capabilities).
constexpr int resident_blocks(int wanted) {
#if !defined(__CUDA_ARCH__) || \
    (__CUDA_ARCH__ != 750 && __CUDA_ARCH__ != 860 && __CUDA_ARCH__ != 870)
  return wanted;
#else
  return std::min(wanted, 16);
#endif
}

// Cost of a shape: `blocks` equal blocks of `slots` each, in any unit of work that is the same for
// all shapes, such as the issue slots of a warp. An SM needs `side_by_side`
// blocks to be fully busy. With fewer blocks, an SM takes as long as with `side_by_side` blocks,
// because it idles while the warps wait for results. `besides` is the rest of the device's work, in
// the same unit, per SM.
struct Cost {
  double blocks;
  double slots;
  double side_by_side = 1;
  double besides = 0;
};

// If ./nbody tune found the fastest shape for this number of systems of n bodies (tuning.h),
// returns that shape. Otherwise returns the first of the shapes that give the busiest SM the least
// work.
template <class Shape, class CostOf>
Shape least_work(int systems, int n, std::vector<Shape> shapes, const CostOf& cost_of) {
  const double sms = device_attribute(cudaDevAttrMultiProcessorCount);
  const auto work = [&](const Shape& shape) {
    const Cost cost = cost_of(shape);
    return std::max(cost.side_by_side, std::ceil(cost.blocks / sms)) * cost.slots + cost.besides;
  };
  std::ranges::stable_sort(shapes, {}, work);
  std::vector<Shape> different;  // shapes are equal if all their bytes are equal
  for (const Shape& shape : shapes) {
    const auto same = [&](const Shape& other) {
      return !std::memcmp(&shape, &other, sizeof shape);
    };
    if (std::ranges::none_of(different, same)) different.push_back(shape);
  }
  return different[choose_shape(systems, n, static_cast<int>(different.size()),
                                [&](int rank) { return cost_of(different[rank]); })];
}

// Forces that are divided among blocks: a thread adds up the forces of one chunk of the sources on
// each of its bodies.
struct Division {
  int bodies_per_thread;
  int chunk;  // number of sources, a multiple of the tile
  int chunks;
};

// Costs of a division in issue slots of a warp.
struct DivisionCost {
  double interaction;      // of a source with one body of a thread
  double source = 0;       // loading a source, and the loop
  double body = 0;         // loading a body of a thread, and storing its sum
  double partial_sum = 0;  // writing it and adding it up; per SM, because all SMs share this work
  double side_by_side = 1;
};

// Returns the division with the least work, for blocks of `tile` threads and one of the given
// numbers of bodies per thread.
inline Division divide(int systems, int n, int sources, int tile, int max_chunks,
                       std::initializer_list<int> bodies_per_thread, const DivisionCost& cost) {
  const auto blocks_for = [tile](int bodies, int k) { return (bodies - 1) / (tile * k) + 1; };
  std::vector<Division> divisions;
  for (const int k : bodies_per_thread) {
    for (int wanted = 1; wanted <= max_chunks; ++wanted) {
      const int chunk = blocks_for(sources, wanted) * tile;
      divisions.push_back({k, chunk, (sources - 1) / chunk + 1});
    }
  }
  return least_work(systems, n, divisions, [&](const Division& division) -> Cost {
    const auto [k, chunk, chunks] = division;
    return {.blocks = 1.0 * systems * blocks_for(n, k) * chunks,
            .slots = (cost.interaction * k + cost.source) * chunk + cost.body * k,
            .side_by_side = cost.side_by_side,
            .besides = cost.partial_sum * systems * n * chunks};
  });
}

// A kernel, or several, for tiles that are paired in a ring. Each lane keeps
// `bodies_per_thread` bodies of a tile.
template <class Kernel>
struct PairShape {
  int bodies_per_thread;
  int warps;
  Kernel kernel;
  int tile() const { return 32 * bodies_per_thread * warps; }
};

// Costs in lane slots: an issue slot of a warp is 32 of them.
struct PairCost {
  double pair;
  double source;  // loading a source and passing on its sum, for all bodies of a lane
  double partial_sum;
};

// Returns the shape with the least work.
template <class Kernel>
PairShape<Kernel> least_work_of_pairs(int systems, int n,
                                      const std::vector<PairShape<Kernel>>& shapes,
                                      const PairCost& cost) {
  return least_work(systems, n, shapes, [&](const PairShape<Kernel>& shape) -> Cost {
    const double tile = shape.tile(), tiles = std::ceil(n / tile);
    return {.blocks = systems * tiles * std::floor(tiles / 2 + 1),
            .slots = tile * tile * (cost.pair + cost.source / shape.bodies_per_thread),
            .side_by_side = 16.0 / shape.warps,
            .besides = cost.partial_sum * systems * n * (tiles + 1)};
  });
}

}  // namespace nbody
