// Kernels that execute one barrier after another, and code that checks that the barriers make
// threads wait.
#pragma once

#include <cooperative_groups.h>

#include <cuda/atomic>

namespace latencies {

// GPUs have clusters from compute capability 9.0 on.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define LATENCIES_CLUSTERS 1
#else
#define LATENCIES_CLUSTERS 0
#endif

// The parties of the barrier are blocks; one thread per block writes and checks the numbers of the
// rounds. In OwnBarrier another thread polls, so the check also shows that a whole block waits.
struct BetweenBlocks {
  static __device__ unsigned party() { return blockIdx.x; }
  static __device__ unsigned parties() { return gridDim.x; }
  static __device__ bool speaks() { return threadIdx.x == blockDim.x - 1; }
};

struct GridBarrier : BetweenBlocks {
  static __device__ void wait(unsigned*, unsigned) { cooperative_groups::this_grid().sync(); }
};

// Uses a counter that only grows: one thread of each block adds 1 and then polls. The release makes
// visible to other blocks what this block wrote before the first __syncthreads().
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

// words[0] belongs to the barrier. After words[0] come two boards with a place for each party, so
// that one barrier per round is enough. If kChecked is true, every party writes the round's number
// to its place before the barrier, and after the barrier expects that number at the next party's
// place.
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
