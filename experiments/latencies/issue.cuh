// Measures how many issue slots an instruction takes, with a loop of independent multiply-adds
// mixed with other instructions, in enough warps to keep the schedulers busy.
#pragma once

#include "nbody/cuda.h"

namespace latencies {

// words[0] is 1.0f and words[1] is 0.0f, but the compiler does not know this. Multiplying by
// words[0] and adding words[1] changes no number.
template <int kFma, int kRoots, int kShuffles>
__global__ void __launch_bounds__(1024, 1) issue(unsigned* words, unsigned* wrong, int operations) {
  const float one = __uint_as_float(words[0]), zero = __uint_as_float(words[1]);
  const float lane = static_cast<float>(threadIdx.x % 32);
  float sums[kFma], roots[kRoots + 1], lanes[kShuffles + 1];
  for (int i = 0; i < kFma; ++i) sums[i] = static_cast<float>(i) + one;
  for (int i = 0; i < kRoots; ++i) roots[i] = one;
  for (int i = 0; i < kShuffles; ++i) lanes[i] = lane;
#pragma unroll 8
  for (int k = 0; k < operations; ++k) {
    for (int i = 0; i < kFma; ++i) sums[i] = fmaf(sums[i], one, zero);
    for (int i = 0; i < kRoots; ++i) roots[i] = rsqrtf(roots[i]);
    for (int i = 0; i < kShuffles; ++i) lanes[i] = __shfl_xor_sync(0xffffffff, lanes[i], 1);
  }
  const float there = __shfl_xor_sync(0xffffffff, lane, operations % 2);
  bool right = true;
  for (int i = 0; i < kFma; ++i) right &= sums[i] == static_cast<float>(i) + 1.0f;
  for (int i = 0; i < kRoots; ++i) right &= roots[i] == 1.0f;
  for (int i = 0; i < kShuffles; ++i) right &= lanes[i] == there;
  if (!right) atomicAdd(wrong, 1);
}

}  // namespace latencies
