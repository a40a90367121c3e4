// Advances many small systems. Each system stays in the shared memory of one block, or of the two
// blocks of a cluster, for all time steps.
//
// There is no grid barrier, and only the first and the last state pass through global memory. The
// blocks of a cluster run at the same time on neighbouring SMs and access each other's shared
// memory (distributed shared memory). Each block holds all positions, moves half of the bodies,
// and writes their new positions into the memory of both blocks.
#pragma once

#include <cooperative_groups.h>

#include <cmath>

#include "nbody/cuda.h"

namespace small_systems {

constexpr int kBodies = 2;  // bodies per thread
constexpr int kWarps = 16;
constexpr int kBlockSize = 32 * kWarps;
constexpr int kGroup = 32 * kBodies;   // bodies that a warp works on
constexpr int kMaxShare = kBlockSize;  // bodies per block; each has a thread that moves it
constexpr int kMaxBlocks = 2;          // blocks of a cluster

// Adds the forces of the sources from `begin` to `end` on the bodies of a thread.
__device__ inline void partial_accelerations(const float4* positions, int begin, int end,
                                             const float4 (&body)[kBodies], float3 (&a)[kBodies],
                                             float softening_squared) {
#pragma unroll 8
  for (int j = begin; j < end; ++j) {
    const float4 source = positions[j];
    for (int k = 0; k < kBodies; ++k) {
      const float dx = source.x - body[k].x;
      const float dy = source.y - body[k].y;
      const float dz = source.z - body[k].z;
      const float distance_squared = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening_squared)));
      const float inverse_distance = rsqrtf(distance_squared);
      const float s = source.w * inverse_distance * (inverse_distance * inverse_distance);
      a[k].x = fmaf(s, dx, a[k].x);
      a[k].y = fmaf(s, dy, a[k].y);
      a[k].z = fmaf(s, dz, a[k].z);
    }
  }
}

// A system in one block needs only that block's barrier, which also works on older devices.
template <int kBlocks>
__device__ void wait_for_all() {
  if constexpr (kBlocks == 1) {
    __syncthreads();
  } else {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cooperative_groups::this_cluster().sync();
#endif
  }
}
template <int kBlocks>
__device__ void write_to_all(float4* here, float4 value) {
  if constexpr (kBlocks == 1) {
    *here = value;
  } else {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    for (int rank = 0; rank < kBlocks; ++rank) {
      *cooperative_groups::this_cluster().map_shared_rank(here, rank) = value;
    }
#endif
  }
}

// Takes all time steps of one system. Its bodies are divided into as many shares as a cluster has
// blocks, and each share into groups. Warps with the same group divide the sources.
template <int kBlocks>
__global__ void __launch_bounds__(kBlockSize, 1)
    advance(float4* all_positions, float4* velocities, int n, int steps, float dt,
            float softening_squared) {
  __shared__ float4 positions[2][kBlocks * kMaxShare];
  __shared__ float4 warp_a[kWarps][kGroup];
  const int share = (n - 1) / kBlocks + 1, first = blockIdx.x % kBlocks * share;
  const size_t before = static_cast<size_t>(blockIdx.x / kBlocks) * n;
  const int groups = (share - 1) / kGroup + 1, parts = kWarps / groups;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int group = warp % groups, part = warp / groups, sources = (n - 1) / parts + 1;
  const int i = first + threadIdx.x;
  const bool owner = i < min(first + share, n);  // this thread moves body i
  for (int j = threadIdx.x; j < n; j += kBlockSize) positions[0][j] = all_positions[before + j];
  float4 position = owner ? all_positions[before + i] : float4{};
  float4 velocity = owner ? velocities[before + i] : float4{};
  // No thread may read positions before all of them are written, and no block may write into the
  // memory of a block that has not begun.
  wait_for_all<kBlocks>();
  for (int step = 0; step < steps; ++step) {
    const float4* const from = positions[step % 2];
    float4 body[kBodies];
    float3 a[kBodies] = {};
    for (int k = 0; k < kBodies; ++k) {
      body[k] = from[min(first + group * kGroup + k * 32 + lane, n - 1)];
    }
    partial_accelerations(from, part * sources, min((part + 1) * sources, n), body, a,
                          softening_squared);
    for (int k = 0; k < kBodies; ++k) {
      warp_a[warp][k * 32 + lane] = make_float4(a[k].x, a[k].y, a[k].z, 0.0f);
    }
    __syncthreads();  // no thread may read the sums before all warps have written theirs
    if (owner) {
      float3 sum = {};
      for (int p = 0; p < parts; ++p) {
        const float4 of_part = warp_a[p * groups + threadIdx.x / kGroup][threadIdx.x % kGroup];
        sum.x += of_part.x;
        sum.y += of_part.y;
        sum.z += of_part.z;
      }
      velocity.x += sum.x * dt;
      velocity.y += sum.y * dt;
      velocity.z += sum.z * dt;
      position.x += velocity.x * dt;
      position.y += velocity.y * dt;
      position.z += velocity.z * dt;
      write_to_all<kBlocks>(&positions[(step + 1) % 2][i], position);
    }
    // The next step reads the positions that all blocks have written, and overwrites the positions
    // and sums that this step has read.
    wait_for_all<kBlocks>();
  }
  if (owner) {
    const size_t bodies = gridDim.x / kBlocks * n;
    all_positions[steps % 2 * bodies + before + i] = position;
    velocities[before + i] = velocity;
  }
}

// Returns the number of blocks that each system needs; 0 if a system is too large.
inline int blocks_for(int n) {
  if (n <= kMaxShare) return 1;
  const bool clusters = nbody::device_attribute(cudaDevAttrClusterLaunch) != 0;
  return clusters && n <= kMaxBlocks * kMaxShare ? 2 : 0;
}

// Returns true if the systems fit into shared memory and leave at most a quarter of the SMs idle.
// Otherwise a grid with a barrier for all its blocks divides the work better.
inline bool fit(int systems, int n) {
  const double blocks = 1.0 * systems * blocks_for(n);
  const double sms = nbody::device_attribute(cudaDevAttrMultiProcessorCount);
  return blocks >= 0.75 * sms * std::ceil(blocks / sms) && blocks > 0;
}

// Advances `systems` systems of n bodies. After an even number of steps their positions are in the
// first half of the array; after an odd number they are in the second half.
inline void launch(float4* positions, float4* velocities, int systems, int n, int steps, float dt,
                   float softening_squared) {
  const int blocks = blocks_for(n);
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = blocks;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(systems * blocks);
  config.blockDim = dim3(kBlockSize);
  config.attrs = &cluster;
  config.numAttrs = blocks == 1 ? 0 : 1;
  CUDA_CHECK(cudaLaunchKernelEx(&config, blocks == 1 ? advance<1> : advance<2>, positions,
                                velocities, n, steps, dt, softening_squared));
}

}  // namespace small_systems
