// Atomics that change nothing, and warp functions that only some lanes call. All must be counted.
#ifndef HOSTCUDA_TESTS_FINDINGS_WARP_COUNTS_H
#define HOSTCUDA_TESTS_FINDINGS_WARP_COUNTS_H

#include <cstdio>
#include <cuda/atomic>

#include "seeded.h"

namespace seeded {

constexpr int kAtomics = 14;

__device__ inline void change_nothing(int* five, unsigned* zero, long long* minus, float* real) {
  atomicMax(five, 1);
  atomicMin(five, 9);
  atomicCAS(five, 7, 8);
  atomicAnd(five, -1);
  atomicOr(five, 4);
  atomicXor(five, 0);
  atomicExch(five, 5);
  atomicSub(five, 0);
  atomicInc(zero, 0);
  atomicMin(minus, 0);
  atomicAdd(real, 0.0f);
  const cuda::atomic_ref<int> object(*five);
  object.fetch_max(3);
  object.fetch_add(0);
  int expected = 6;
  object.compare_exchange_strong(expected, 7);
}

__global__ void global_atomics(int* five, unsigned* zero, long long* minus, float* real) {
  change_nothing(five, zero, minus, real);
}

__global__ void shared_atomics() {
  __shared__ int five;
  __shared__ unsigned zero;
  __shared__ long long minus;
  __shared__ float real;
  if (threadIdx.x == 0) {
    five = 5;
    zero = 0;
    minus = -1;
    real = 0.0f;
  }
  __syncwarp();
  change_nothing(&five, &zero, &minus, &real);
}

__global__ void half_a_warp() {
  if (threadIdx.x < 16) {
    __shfl_sync(0xffffu, 1, 0);
    __ballot_sync(0xffffu, 1);
  }
  __syncwarp();
  __reduce_add_sync(0xffffffffu, 1);
  __activemask();
}

constexpr int kReaders = 3, kLongest = 5;

// Only some threads of the first block load, and one of them loads more than the others.
__global__ void few_load(const int* from, int* to) {
  if (blockIdx.x > 0 || threadIdx.x >= kReaders) return;
  const int count = threadIdx.x == 0 ? kLongest : 1;
  for (int k = 0; k < count; ++k) to[threadIdx.x] += from[k];
}

constexpr int kOfKernel = 6, kCopied = 4, kOfHost = 3;
__device__ int of_kernel[kOfKernel], of_initialiser[kOfHost] = {1, 2, 3};
__constant__ int copied[kCopied], of_host[kOfHost];

__global__ void fill_variable() { of_kernel[threadIdx.x] = 1; }

// The thread's loads from variables that host code has set do not count as its loads.
__global__ void load_variables(int* to) {
  int sum = 0;
  for (const int one : of_kernel) sum += one;
  for (const int one : copied) sum += one;
  for (int k = 0; k < kOfHost; ++k) sum += of_host[k] + of_initialiser[k];
  *to += sum;
}

inline void variable_loads(const int* from, int* to) {
  constexpr int kHost[kOfHost] = {};
  cudaMemcpyToSymbol(of_host, kHost, sizeof of_host);
  cudaMemcpyToSymbol(copied, from, sizeof copied, 0, cudaMemcpyDeviceToDevice);
  fill_variable<<<1, kOfKernel>>>();
  for (int launch = 0; launch < 2; ++launch) load_variables<<<1, 1>>>(to);
  std::printf("load_variables loads %d %d\n", 2, 1 + kOfKernel + kCopied);
}

__device__ long long of_device = 7;

// Copies 8 bytes of a variable, 4 bytes of managed memory and 4 bytes of pinned memory to the host.
inline void copy_to_host() {
  long long variable = 0;
  cudaMemcpyFromSymbol(&variable, of_device, sizeof variable);
  int *managed = nullptr, *pinned = nullptr, host = 0;
  cudaMallocManaged(&managed, sizeof host);
  cudaMallocHost(&pinned, sizeof host);
  cudaMemset(managed, 0, sizeof host);
  cudaMemcpy(pinned, managed, sizeof host, cudaMemcpyDefault);
  cudaMemcpy(&host, pinned, sizeof host, cudaMemcpyHostToHost);
  cudaMemcpyToSymbol(of_device, &variable, sizeof variable);  // is not counted
  cudaFree(managed);
  cudaFreeHost(pinned);
}

// Prints how many accesses and requests, or how many shuffles and votes, each kernel makes.
inline void warp_counts() {
  constexpr int kLanes = 32;
  const Buffer<int> five(1);
  const Buffer<unsigned> zero(1);
  const Buffer<long long> minus(1);
  const Buffer<float> real(1);
  constexpr int kFive = 5;
  constexpr long long kMinus = -1;
  cudaMemcpy(five.data, &kFive, sizeof kFive, cudaMemcpyHostToDevice);
  cudaMemcpy(minus.data, &kMinus, sizeof kMinus, cudaMemcpyHostToDevice);
  global_atomics<<<1, kLanes>>>(five.data, zero.data, minus.data, real.data);
  std::printf("global_atomics atomics %d %d\n", kAtomics * kLanes, kAtomics);
  shared_atomics<<<1, kLanes>>>();
  std::printf("shared_atomics atomics %d %d\n", kAtomics * kLanes, kAtomics);
  half_a_warp<<<1, kLanes>>>();
  std::printf("half_a_warp shuffles %d %d\n", 16 + kLanes, 2);
  std::printf("half_a_warp votes %d %d\n", 16 + kLanes, 2);
  const Buffer<int> from(kLongest), to(kReaders);
  int host[kReaders] = {};
  cudaMemset(from.data, 0, sizeof(int) * kLongest);
  cudaMemcpy(to.data, host, sizeof host, cudaMemcpyHostToDevice);
  for (int launch = 0; launch < 2; ++launch) few_load<<<2, kLanes>>>(from.data, to.data);
  variable_loads(from.data, to.data);
  cudaMemcpy(host, to.data, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("few_load loads %d %d\n", 2 * kReaders, 2 * kLongest);
  five.get(), zero.get(), minus.get(), real.get();  // so that no unread result is reported
  copy_to_host();
}

}  // namespace seeded

#endif
