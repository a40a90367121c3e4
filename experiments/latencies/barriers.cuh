// Barriers, one after another in one kernel, and what proves that they wait.
#pragma once

#include <cooperative_groups.h>

#include <cuda/atomic>

namespace latencies {

// Clusters came with compute capability 9.0.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define LATENCIES_CLUSTERS 1
#else
#define LATENCIES_CLUSTERS 0
#endif

// The parties of a barrier are blocks, and one thread speaks for each; it is not the one that
// waits in OwnBarrier, so that the barrier has to reach all threads of a block.
struct BetweenBlocks {
  static __device__ unsigned party() { return blockIdx.x; }
  static __device__ unsigned parties() { return gridDim.x; }
  static __device__ bool speaks() { return threadIdx.x == blockDim.x - 1; }
};

struct GridBarrier : BetweenBlocks {
  static __device__ void wait(unsigned*, unsigned) { cooperative_groups::this_grid().sync(); }
};

// One counter that only grows: of each block one thread adds to it, then polls. The release
// publishes what the block wrote before the first __syncthreads().
struct OwnBarrier : BetweenBlocks {
  static __device__ void wait(unsigned* arrived, unsigned round) {
    __syncthreads();
    if (threadIdx.x == 0) {
      cuda::atomic_ref<unsigned, cuda::thread_scope_device> count(*arrived);
      count.fetch_add(1, cuda::memory_order_release);
      while (count.load(cuda::memory_order_acquire) < round * gridDim.x) {
      }
    }
    __syncthreads();
  }
};

struct ClusterBarrier : BetweenBlocks {
  static __device__ void wait(unsigned*, unsigned) {
#if LATENCIES_CLUSTERS
    cooperative_groups::this_cluster().sync();
#endif
  }
};

struct BlockBarrier {
  static __device__ unsigned party() { return threadIdx.x; }
  static __device__ unsigned parties() { return blockDim.x; }
  static __device__ bool speaks() { return true; }
  static __device__ void wait(unsigned*, unsigned) { __syncthreads(); }
};

// words[0] belongs to the barrier; behind it are two boards with a place for each party, so that
// one barrier per round is enough. When checked, every party writes the round to its place and
// looks, after the barrier, for that of the next.
template <class Barrier, bool kChecked>
__global__ void barriers(unsigned* words, unsigned* wrong, int operations) {
  const unsigned next = (Barrier::party() + 1) % Barrier::parties();
  for (unsigned round = 1; round <= static_cast<unsigned>(operations); ++round) {
    unsigned* const board = words + 1 + round % 2 * Barrier::parties();
    if (kChecked && Barrier::speaks()) board[Barrier::party()] = round;
    Barrier::wait(words, round);
    if (kChecked && Barrier::speaks() && board[next] != round) atomicAdd(wrong, 1);
  }
}

}  // namespace latencies
