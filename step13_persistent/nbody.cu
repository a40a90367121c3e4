// step13_persistent -- one kernel takes all time steps: a barrier of the grid instead of a launch.
//
// For a few thousand bodies a launch takes as long as the forces. Here the blocks stay: each advances
// its bodies, then waits at a barrier for the others, and goes on. Positions are kept twice, so that
// one barrier per step is enough. Many small systems go to clusters, which keep all positions in the
// shared memory of their blocks and wait for no other cluster.
//
// Parent: step11_register_blocking.   Run: step13_persistent --systems 1 --bodies 1024 --steps 1000
#include <cooperative_groups.h>

#include <algorithm>
#include <utility>

#include "nbody/shape.h"
#include "nbody/step.h"
#include "nbody/timeline.h"

namespace {

namespace cg = cooperative_groups;

constexpr int kUnroll = TUNABLE(UNROLL, 8);
constexpr int kWarps = TUNABLE(WARPS, 16);  // of a block
constexpr int kBlockSize = 32 * kWarps;

using Position = float4;  // loaded 16 bytes at once; w is the mass
using Velocity = float4;

// Past the end there are massless bodies. Other blocks write positions while this kernel runs, so they
// are read from the L2 cache: what an SM's own cache holds may be of an earlier step.
__device__ Position load(const Position* positions, int j, int n) {
  return j < n ? __ldcg(&positions[j]) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

// A source and the K bodies of a thread: the interactions do not wait for one another.
template <int K>
__device__ void interact(const Position& source, const Position (&body)[K], float3 (&a)[K],
                         float softening_squared) {
  for (int k = 0; k < K; ++k) {
    const float dx = source.x - body[k].x;
    const float dy = source.y - body[k].y;
    const float dz = source.z - body[k].z;
    const float distance_squared = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening_squared)));
    const float inverse_distance = rsqrtf(distance_squared);
    const float s = source.w * inverse_distance * inverse_distance * inverse_distance;
    a[k].x = fmaf(s, dx, a[k].x);
    a[k].y = fmaf(s, dy, a[k].y);
    a[k].z = fmaf(s, dz, a[k].z);
  }
}

// A block's bodies are K per lane on kLanes lanes, the same in every warp; the other lanes of a warp
// have the same bodies again and meet other sources. Each warp meets every kWarps-th slab of 32.
template <int K, int kLanes>
struct Block {
  static constexpr int kBodies = K * kLanes;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, part = lane / kLanes;
  Position body[K];
  float3 a[K] = {};

  __device__ void meet(const Position* slab, float softening_squared) {
#pragma unroll kUnroll
    for (int s = 0; s < kLanes; ++s) {
      interact<K>(slab[part * kLanes + s], body, a, softening_squared);
    }
  }

  // Adds up what the lanes with the same bodies have, then what the warps have; body i of the block is
  // then kicked and drifted by thread i. `partials` is shared memory.
  template <class Store>
  __device__ void finish(float3 (*partials)[kBodies], int bodies, Velocity* velocities,
                         float dt, const Store& store) {
    for (int k = 0; k < K; ++k) {
      for (int other = kLanes; other < 32; other *= 2) {
        a[k].x += __shfl_xor_sync(0xffffffff, a[k].x, other);
        a[k].y += __shfl_xor_sync(0xffffffff, a[k].y, other);
        a[k].z += __shfl_xor_sync(0xffffffff, a[k].z, other);
      }
      if (part == 0) partials[warp][k * kLanes + lane] = a[k];
    }
    __syncthreads();  // the sums of all warps are there
    for (int i = threadIdx.x; i < bodies; i += kBlockSize) {
      float3 sum = {};
      for (int w = 0; w < kWarps; ++w) {
        sum.x += partials[w][i].x;
        sum.y += partials[w][i].y;
        sum.z += partials[w][i].z;
      }
      velocities[i].x += sum.x * dt;
      velocities[i].y += sum.y * dt;
      velocities[i].z += sum.z * dt;
      store(i, velocities[i]);
    }
    __syncthreads();  // the sums may be overwritten
  }
};
