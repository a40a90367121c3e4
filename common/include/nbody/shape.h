// How a kernel's work is cut into blocks, chosen by the number of bodies and of SMs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "nbody/cuda.h"
#include "nbody/tuning.h"

namespace nbody {

// So many blocks may be asked for in __launch_bounds__: no SM of compute capability 7.5, 8.6 and
// 8.7 holds more than 16, whatever their size (CUDA Programming Guide, table of compute
// capabilities).
constexpr int resident_blocks(int wanted) {
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 750 || __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870)
  return std::min(wanted, 16);
#else
  return wanted;
#endif
}

// What a shape costs: so many equal blocks of so many issue slots each. `side_by_side` of them fill
// an SM: fewer take as long, because their warps wait for one another's results. `besides` is what
// the whole device does beside the blocks, in slots of one SM.
struct Cost {
  double blocks;
  double slots;
  double side_by_side = 1;
  double besides = 0;
};

// The shape with the least work for the SM that has the most blocks, the first of several such; or
// the one that was measured to be faster for so many systems of n bodies (tuning.h).
template <class Shape, class CostOf>
Shape least_work(int systems, int n, std::vector<Shape> shapes, const CostOf& cost_of) {
  const double sms = device_attribute(cudaDevAttrMultiProcessorCount);
  const auto work = [&](const Shape& shape) {
    const Cost cost = cost_of(shape);
    return std::max(cost.side_by_side, std::ceil(cost.blocks / sms)) * cost.slots + cost.besides;
  };
  std::ranges::stable_sort(shapes, {}, work);
  std::vector<Shape> different;  // what has the same bytes is the same shape
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
