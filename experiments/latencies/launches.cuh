// An empty kernel, which is launched again and again.
#pragma once

#include "barriers.cuh"

namespace latencies {

// If kChecked is true, every block writes the launch's number to its place on one of two boards. On
// the other board it reads what the previous launch wrote to the next block's place. A dependent
// launch may begin while the previous launch still runs, so it has to wait before it reads.
template <bool kDependent, bool kChecked>
__global__ void launched(unsigned* words, unsigned* wrong, unsigned number) {
  if constexpr (kDependent) {
#if LATENCIES_CLUSTERS
    cudaTriggerProgrammaticLaunchCompletion();  // the next launch may begin
    cudaGridDependencySynchronize();            // waits for the end of the previous launch
#endif
  }
  if (kChecked && threadIdx.x == 0) {
    const unsigned* const before = words + (number + 1) % 2 * gridDim.x;
    if (before[(blockIdx.x + 1) % gridDim.x] != number - 1) atomicAdd(wrong, 1);
    words[number % 2 * gridDim.x + blockIdx.x] = number;
  }
}

}  // namespace latencies
