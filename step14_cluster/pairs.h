// Computes the forces between one source and a thread's bodies, and between 32 sources and a warp's
// bodies. Step 12 explains this method.
#pragma once

#include "nbody/float3.h"
#include "step14_cluster/share.h"

namespace {

using namespace nbody;  // arithmetic with float3

constexpr int kUnroll = TUNABLE(UNROLL, 8);

// Computes the K independent interactions of a source with a thread's bodies. With kOneMass all
// sources have the same mass, and so do all bodies; the caller multiplies the sums by these masses.
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

// Pairs 32 sources with the bodies of a warp. In step s a lane works on source lane + s (the slab
// holds the sources twice, so no remainder is needed), and then passes that source's sum on to the
// previous lane. After 32 steps every lane has the sum of its own source.
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
