// A kernel that does nothing, launched again and again.
#pragma once

#include "barriers.cuh"

namespace latencies {

// When checked, every block writes the number of its launch to its place on one of two boards, and
// looks on the other one for what the launch before left in that of the next block. A dependent
// launch may begin while the one before still runs, and so has to wait for it.
template <bool kDependent, bool kChecked>
__global__ void launched(unsigned* words, unsigned* wrong, unsigned number) {
  if constexpr (kDependent) {
#if LATENCIES_CLUSTERS
    cudaTriggerProgrammaticLaunchCompletion();  // the next one may begin
    cudaGridDependencySynchronize();            // the one before is done
#endif
  }
  if (kChecked && threadIdx.x == 0) {
    const unsigned* const before = words + (number + 1) % 2 * gridDim.x;
    if (before[(blockIdx.x + 1) % gridDim.x] != number - 1) atomicAdd(wrong, 1);
    words[number % 2 * gridDim.x + blockIdx.x] = number;
  }
}

}  // namespace latencies
