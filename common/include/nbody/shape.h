// Chooses how a kernel's work is divided into blocks, given the numbers of bodies and SMs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
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

// Cost of a shape: `blocks` equal blocks of `slots` issue slots each. An SM needs `side_by_side`
// blocks to be fully busy. With fewer blocks, an SM takes as long as with `side_by_side` blocks,
// because it idles while the warps wait for results. `besides` is the rest of the device's work, in
// issue slots of one SM.
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

}  // namespace nbody
