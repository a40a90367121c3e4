// The threads of a warp make nearly the same loads. Each load must be counted exactly once, and no
// race may be missed.
#ifndef HOSTCUDA_TESTS_FINDINGS_SAME_LOADS_H
#define HOSTCUDA_TESTS_FINDINGS_SAME_LOADS_H

#include <cstdio>

#include "seeded.h"

namespace seeded {

constexpr int kWarp = 32;

// Each lane loads all elements except its own.
__global__ void all_others(const int* in, int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  int sum = 0;
  for (int i = 0; i < kWarp; ++i)
    if (i != lane) sum += in[i];
  out[lane] = sum;
}

// Odd lanes first load one more element. Then all lanes alternately load the same element and
// different elements.
__global__ void not_in_step(const int* in, int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  int sum = lane % 2 ? in[lane] : 0;
  for (int i = 0; i < kWarp; ++i) sum += in[i] * in[(i + lane) % kWarp];
  out[lane] = sum;
}

__global__ void many_loads(const int* in, int* out, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += in[i % kWarp];
  out[threadIdx.x] = sum;
}

__global__ void one_lane_writes(int* in, int* out, unsigned writer) {
  const int value = in[0];
  if (threadIdx.x == writer) in[0] = 1;
  out[threadIdx.x] = value;
}

// Prints how many accesses, requests and pairs of racing accesses each kernel should have. A write
// races with at most two earlier reads, because the tracer remembers only the last two.
inline void same_loads() {
  const Buffer<int> in(kWarp), out(kWarp);
  const auto tell = [](const char* kernel, int accesses, int requests, int races) {
    cudaDeviceSynchronize();
    std::printf("%s %d %d %d\n", kernel, accesses, requests, races);
  };
  all_others<<<1, kWarp>>>(in.data, out.data);
  tell("all_others", kWarp * kWarp, kWarp, 0);
  not_in_step<<<1, kWarp>>>(in.data, out.data);
  tell("not_in_step", kWarp / 2 + kWarp * (2 * kWarp + 1), 2 * kWarp + 2, 0);
  constexpr int kMany = 600000;  // more loads than a trail (trail.h) can store
  many_loads<<<1, kWarp>>>(in.data, out.data, kMany);
  tell("many_loads", kWarp * (kMany + 1), kMany + 1, 0);
  constexpr unsigned kWriter = 7;
  one_lane_writes<<<1, kWarp>>>(in.data, out.data, kWriter);
  tell("one_lane_writes", 2 * kWarp + 1, 3, 1 + (kWarp - 1 - kWriter));
}

}  // namespace seeded

#endif
