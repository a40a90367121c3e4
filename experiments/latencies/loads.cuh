// Chains of loads in which each load needs the result of the previous one, and messages between two
// blocks.
#pragma once

#include "barriers.cuh"

namespace latencies {

// A link is the index of the next place. Odd strides lead to all places and back to the first one.
constexpr unsigned kSharedLinks = 1024;  // 4 KiB
constexpr unsigned kGlobalLinks = 16384;
constexpr unsigned kGlobalStride = 4129;  // each link leads to another cache line

// Each block's links have their own stride, so the place at the end of a chain shows which block's
// links were followed.
__device__ inline unsigned stride_of(unsigned block) { return 97 + 2 * block; }

template <bool kOfNextBlock>
__global__ void shared_loads(unsigned*, unsigned* wrong, int operations) {
  __shared__ unsigned links[kSharedLinks];
  for (unsigned i = threadIdx.x; i < kSharedLinks; i += blockDim.x) {
    links[i] = (i + stride_of(blockIdx.x)) % kSharedLinks;
  }
  __syncthreads();
  const unsigned* followed = links;
  if constexpr (kOfNextBlock) {
#if LATENCIES_CLUSTERS
    const auto cluster = cooperative_groups::this_cluster();
    cluster.sync();  // waits until the links of all blocks are written
    followed = cluster.map_shared_rank(links, (blockIdx.x + 1) % gridDim.x);
#endif
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    unsigned at = 0;
    for (int k = 0; k < operations; ++k) at = followed[at];
    const unsigned stride = stride_of(kOfNextBlock ? 1 % gridDim.x : 0);
    if (at != static_cast<unsigned>(operations) * stride % kSharedLinks) atomicAdd(wrong, 1);
  }
#if LATENCIES_CLUSTERS
  if constexpr (kOfNextBlock) cooperative_groups::this_cluster().sync();  // others read the links
#endif
}

// Loads from L2 and bypasses this SM's L1, which is necessary for data that other SMs write. Before
// the chain begins, all links are loaded once, so that they are in L2.
__global__ void global_loads(unsigned* links, unsigned* wrong, int operations) {
  unsigned sum = 0;
  for (unsigned i = threadIdx.x; i < kGlobalLinks; i += blockDim.x) sum += __ldcg(&links[i]);
  if (sum == 0) atomicAdd(wrong, 1);
  __syncthreads();
  if (threadIdx.x > 0) return;
  unsigned at = 0;
  for (int k = 0; k < operations; ++k) at = __ldcg(&links[at]);
  if (at != static_cast<unsigned>(operations) * kGlobalStride % kGlobalLinks) atomicAdd(wrong, 1);
}

// Block 0 writes a message and then a flag that announces it. Block 1 waits for the flag and
// answers. The flags are in separate cache lines.
__global__ void round_trips(unsigned* words, unsigned* wrong, int operations) {
  if (threadIdx.x > 0) return;
  unsigned* const message = words + 64;
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> asked(words[0]), answered(words[32]);
  for (unsigned round = 1; round <= static_cast<unsigned>(operations); ++round) {
    if (blockIdx.x == 0) {
      *message = 3 * round;
      asked.store(round, cuda::memory_order_release);
      while (answered.load(cuda::memory_order_acquire) != round) {
      }
    } else {
      while (asked.load(cuda::memory_order_acquire) != round) {
      }
      if (*message != 3 * round) atomicAdd(wrong, 1);
      answered.store(round, cuda::memory_order_release);
    }
  }
}

}  // namespace latencies
