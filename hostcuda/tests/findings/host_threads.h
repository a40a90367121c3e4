// This is not a bug: one host thread allocates and uses pinned memory while another host thread
// runs kernels. Every access of both threads must be recorded.
#ifndef HOSTCUDA_TESTS_FINDINGS_HOST_THREADS_H
#define HOSTCUDA_TESTS_FINDINGS_HOST_THREADS_H

#include <atomic>
#include <cstdio>
#include <new>
#include <thread>

#include "seeded.h"

namespace seeded {

__global__ void sum_in_turns(const int* in, int* out, int turns) {
  __shared__ int tile[kThreads];
  int sum = 0;
  for (int turn = 0; turn < turns; ++turn) {
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int i = 0; i < kThreads; ++i) sum += tile[(threadIdx.x + i) % kThreads];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

// Prints how many loads and stores the kernels should make.
inline void host_threads() {
  constexpr int kLaunches = 4, kTurns = 50;
  std::atomic<bool> done = false;
  std::thread other([&] {
    int* pinned = nullptr;
    cudaMallocHost(&pinned, kThreads * sizeof(int));
    while (!done) {
      ::operator delete(::operator new(sizeof(int)));
      for (int i = 0; i < kThreads; ++i) pinned[i] = i;
    }
    cudaFreeHost(pinned);
  });
  const Buffer<int> in(kThreads), out(kThreads);
  for (int launch = 0; launch < kLaunches; ++launch) {
    sum_in_turns<<<1, kThreads>>>(in.data, out.data, kTurns);
    cudaDeviceSynchronize();
  }
  done = true;
  other.join();
  std::printf("%d\n", kLaunches * kThreads * (kTurns * (2 + kThreads) + 1));
}

}  // namespace seeded

#endif
