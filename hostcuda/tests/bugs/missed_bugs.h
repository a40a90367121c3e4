// Kernels that write outside their array. In a plain run, they damage neither other arrays nor the
// emulator.
#ifndef HOSTCUDA_TESTS_BUGS_MISSED_BUGS_H
#define HOSTCUDA_TESTS_BUGS_MISSED_BUGS_H

#include <cuda_runtime.h>

#include <string>

#include "buffers.h"

namespace {

constexpr int kFew = 10;

__global__ void write_around(float* few, int offset) {
  const int i = static_cast<int>(threadIdx.x);
  // BUG past_small before_small past_pinned far_index
  if (i < kFew) few[i + offset] = 1;
}

// Writes to an array between two other arrays, which must keep their values.
int run_missed_bug(const std::string& bug, bool corrected) {
  const Buffer before(kFew);
  float* few = nullptr;
  if (bug == "past_pinned")
    cudaMallocHost(&few, kFew * sizeof(float));
  else
    cudaMalloc(&few, kFew * sizeof(float));
  const Buffer after(kFew);
  for (const Buffer* neighbour : {&before, &after})
    write_around<<<1, kThreads>>>(neighbour->data, 0);
  const int offset = bug == "before_small" ? -32 : bug == "far_index" ? 1 << 27 : 32;
  write_around<<<1, kThreads>>>(few, corrected ? 0 : offset);
  cudaDeviceSynchronize();
  const int wrong = verdict(before.get(), 1) || (after.get() != before.get());
  if (bug == "past_pinned")
    cudaFreeHost(few);
  else
    cudaFree(few);
  return wrong;
}

bool is_missed_bug(const std::string& bug) {
  for (const char* name : {"past_small", "before_small", "past_pinned", "far_index"})
    if (bug == name) return true;
  return false;
}

}  // namespace

#endif
