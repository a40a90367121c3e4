// Boxes around bodies.
#pragma once

#include "nbody/float3.h"

namespace nbody {

struct Box {
  float3 low, high;
};

// Turns a position into a box of size zero, to start a reduction over positions.
struct BoxOf {
  __host__ __device__ Box operator()(float4 position) const {
    return {xyz(position), xyz(position)};
  }
};
struct BoxAround {
  __host__ __device__ Box operator()(const Box& a, const Box& b) const {
    return {min(a.low, b.low), max(a.high, b.high)};
  }
};

// Returns the box around the points of all lanes of a warp.
__device__ inline Box box_of_warp(float3 point) {
  Box box{point, point};
  for (int apart = 16; apart > 0; apart /= 2) {
    const auto other = [apart](float3 v) {
      const auto exchanged = [apart](float x) { return __shfl_xor_sync(0xffffffff, x, apart); };
      return float3{exchanged(v.x), exchanged(v.y), exchanged(v.z)};
    };
    box = BoxAround()(box, {other(box.low), other(box.high)});
  }
  return box;
}

__device__ inline float largest_of_warp(float x) {
  for (int apart = 16; apart > 0; apart /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, apart));
  return x;
}

__device__ inline float3 middle_of(const Box& box) { return 0.5f * (box.low + box.high); }

inline Box empty_box() {
  return {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

}  // namespace nbody
