// A pair of bodies, and 32 sources for a warp: as in step 12, where it is the lesson.
#pragma once

#include "nbody/float3.h"
#include "step14_cluster/share.h"

namespace {

using namespace nbody;  // arithmetic with float3

constexpr int kUnroll = TUNABLE(UNROLL, 8);

// A source and the K bodies of a thread: the interactions do not wait for one another.
// With kOneMass all sources have one mass and all bodies have one: they are multiplied by later.
template <bool kOneMass, int K>
__device__ void interact(Position source, const Position (&body)[K], float3 (&a)[K],
                         float3& reaction, float softening_squared) {
  for (int k = 0; k < K; ++k) {
    const float3 d = xyz(source) - xyz(body[k]);
    const float inverse_distance = rsqrtf(dot(d, d, softening_squared));
    const float cubed = inverse_distance * inverse_distance * inverse_distance;
    const float s = kOneMass ? cubed : source.w * cubed, t = kOneMass ? cubed : body[k].w * cubed;
    a[k] = fma(s, d, a[k]);
    reaction = fma(-t, d, reaction);
  }
}

// 32 sources meet the bodies of a warp. In step s a lane works on source lane + s, which the slab
// holds twice so that no remainder is needed, and hands that source's sum on to the lane whose turn
// is next. After a whole turn every lane has the sum of its own source.
template <bool kOneMass, int K>
__device__ float3 meet(const Position* slab, const Position (&body)[K], float3 (&a)[K],
                       float softening_squared) {
  const int lane = threadIdx.x % 32, next = (lane + 1) % 32;
  float3 reaction = {};
#pragma unroll kUnroll
  for (int s = 0; s < 32; ++s) {
    interact<kOneMass, K>(slab[lane + s], body, a, reaction, softening_squared);
    reaction.x = __shfl_sync(0xffffffff, reaction.x, next);
    reaction.y = __shfl_sync(0xffffffff, reaction.y, next);
    reaction.z = __shfl_sync(0xffffffff, reaction.z, next);
  }
  return reaction;
}

}  // namespace
