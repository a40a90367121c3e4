// Atomics that change a variable in shared memory and one in global memory. With
// HOSTCUDA_TRACE_SKIP_SHARED_ATOMICS, the one in shared memory must keep its value half of the
// time.
#ifndef HOSTCUDA_TESTS_FINDINGS_SKIPPED_ATOMICS_H
#define HOSTCUDA_TESTS_FINDINGS_SKIPPED_ATOMICS_H

#include <cstdio>

#include "seeded.h"

namespace seeded {

constexpr int kKept = 5;  // value before and, if the operation is skipped, after it
constexpr int kOperations = 10, kTimes = 40;

__device__ inline void operate(int number, int* value) {
  switch (number) {
    case 0:
      atomicAdd(value, 2);
      return;
    case 1:
      atomicSub(value, 2);
      return;
    case 2:
      atomicMax(value, 9);
      return;
    case 3:
      atomicMin(value, 1);
      return;
    case 4:
      atomicAnd(value, 4);
      return;
    case 5:
      atomicOr(value, 8);
      return;
    case 6:
      atomicXor(value, 1);
      return;
    case 7:
      atomicExch(value, 6);
      return;
    case 8:
      atomicCAS(value, kKept, 6);
      return;
    default:
      atomicInc(reinterpret_cast<unsigned*>(value), 99);
  }
}

__global__ void operate_on_both(int number, int* global) {
  __shared__ int shared;
  global[0] = shared = kKept;
  operate(number, &global[0]);
  operate(number, &shared);
  global[1] = shared;
}

// Prints how often each operation has changed the variables.
inline void skipped_atomics() {
  const Buffer<int> values(2);
  for (int number = 0; number < kOperations; ++number) {
    int changed[2] = {};
    for (int time = 0; time < kTimes; ++time) {
      operate_on_both<<<1, 1>>>(number, values.data);
      int host[2];
      cudaMemcpy(host, values.data, sizeof host, cudaMemcpyDeviceToHost);
      for (int k = 0; k < 2; ++k) changed[k] += host[k] != kKept;
    }
    std::printf("%d %d %d\n", number, changed[0], changed[1]);
  }
}

}  // namespace seeded

#endif
