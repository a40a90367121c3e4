// Buffers for the mistakes in bugs.cu, and a function that checks the results in a buffer.
#ifndef HOSTCUDA_TESTS_BUGS_BUFFERS_H
#define HOSTCUDA_TESTS_BUGS_BUFFERS_H

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

constexpr int kThreads = 128;

// Compares the values with `wanted` and prints the result. NaN counts as wrong, because NaN ==
// wanted is false.
int verdict(const std::vector<float>& values, float wanted) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == wanted) continue;
    std::printf("WRONG RESULT: element %zu is %g, not %g\n", i, values[i], wanted);
    return 1;
  }
  std::puts("result ok");
  return 0;
}

struct Buffer {
  explicit Buffer(int size = kThreads) : size(size) { cudaMalloc(&data, size * sizeof(float)); }
  ~Buffer() { cudaFree(data); }
  std::vector<float> get() const {
    std::vector<float> values(size);
    cudaMemcpy(values.data(), data, size * sizeof(float), cudaMemcpyDeviceToHost);
    return values;
  }
  float* data = nullptr;
  int size;
};

struct Pinned {
  Pinned() { cudaMallocHost(&data, kBytes); }
  ~Pinned() { cudaFreeHost(data); }
  void set(float value) {
    // BUG reused_pinned_buffer
    for (int i = 0; i < kThreads; ++i) data[i] = value;
  }
  std::vector<float> get() const {
    // BUG unfinished_copy
    return std::vector<float>(data, data + kThreads);
  }
  static constexpr std::size_t kBytes = kThreads * sizeof(float);
  float* data = nullptr;
};

}  // namespace

#endif
