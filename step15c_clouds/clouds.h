// Estimates forces from a few clouds. A cloud is a run of consecutive bodies along the curve, and
// acts as one soft body.
#pragma once

#include <algorithm>

#include "nbody/cuda.h"
#include "nbody/float3.h"
#include "nbody/step.h"

namespace clouds {
using namespace nbody;

constexpr int kClouds = TUNABLE(CLOUDS, 64);  // of a system
constexpr int kCloudBlock = 1024;             // at most this many threads add up a cloud
constexpr int kEstimateBlock = 256;
constexpr int kEvery = TUNABLE(EVERY, 4);  // estimates the force on one body out of this many
constexpr float kCancelled = 0.01f;  // a force counts as at least this part of its group's largest

struct Cloud {
  float4 centre;         // centre of mass; w: mass
  float spread_squared;  // mean of the squared distances from the centre
};

// A multiple of 32, so that all bodies of a group leave out the same cloud.
__host__ __device__ inline int bodies_per_cloud(int n) {
  return 32 * ((n - 1) / (32 * kClouds) + 1);
}
__host__ __device__ inline int number_of_clouds(int n) { return (n - 1) / bodies_per_cloud(n) + 1; }

__device__ inline float sum_of_warp(float x) {
  for (int apart = 16; apart > 0; apart /= 2) x += __shfl_xor_sync(0xffffffff, x, apart);
  return x;
}

__device__ inline float sum_of_block(float x) {
  __shared__ float sums[kCloudBlock / 32];
  x = sum_of_warp(x);
  __syncthreads();  // the previous sums have been read
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = x;
  __syncthreads();  // every warp's sum is there
  return sum_of_warp(threadIdx.x % 32 < blockDim.x / 32 ? sums[threadIdx.x % 32] : 0);
}

// Computes the clouds, one block per cloud.
static __global__ void find_clouds(const float4* __restrict__ bodies, int n,
                                   Cloud* __restrict__ clouds) {
  const int count = bodies_per_cloud(n), first = blockIdx.x * count;
  const float3 near = xyz(bodies[min(first, n - 1)]);  // relative positions keep more digits
  float mass = 0, square = 0;
  float3 weighted{};
#pragma unroll 4
  for (int i = first + threadIdx.x; i < min(first + count, n); i += blockDim.x) {
    const float4 body = bodies[i];
    const float3 d = xyz(body) - near;
    mass += body.w;
    weighted += body.w * d;
    square += body.w * dot(d, d);
  }
  mass = sum_of_block(mass);
  const float inverse = mass > 0 ? 1 / mass : 0;
  const float3 mean = inverse * float3{sum_of_block(weighted.x), sum_of_block(weighted.y),
                                       sum_of_block(weighted.z)};
  square = inverse * sum_of_block(square);
  const float3 c = near + mean;
  if (threadIdx.x == 0)
    clouds[blockIdx.x] = {{c.x, c.y, c.z, mass}, fmaxf(square - dot(mean, mean), 0)};
}

// Returns an estimate of |a| for sorted body i. Its own cloud is left out: there a heavy body pulls
// the others, but not itself. An estimate that is too small costs only time.
__device__ inline float estimated_force(const Cloud* __restrict__ clouds, int n, int i, float4 body,
                                        float softening_squared) {
  const int own = i / bodies_per_cloud(n), count = number_of_clouds(n);
  float3 a{};
#pragma unroll 4
  for (int k = 0; k < count; ++k) {
    const float4 c = clouds[k].centre;
    const float3 d = xyz(c) - xyz(body);
    const float inverse = rsqrtf(dot(d, d, softening_squared + clouds[k].spread_squared));
    const float mass = k == own ? 0 : c.w;
    a = a + mass * inverse * (inverse * inverse) * d;
  }
  return norm3df(a.x, a.y, a.z);  // squares might leave the range of float32
}

// Estimates the smallest |a| of each group of 32, from one body out of kEvery.
static __global__ void find_weakest(const float4* __restrict__ bodies,
                                    const Cloud* __restrict__ clouds, int n,
                                    float softening_squared, float* __restrict__ weakest) {
  constexpr int kOfGroup = 32 / kEvery;  // lanes of a group
  const int t = blockIdx.x * kEstimateBlock + threadIdx.x, i = min(kEvery * t, n - 1);
  const float a = estimated_force(clouds, n, i, bodies[i], softening_squared);
  float least = a, largest = a;
  for (int apart = kOfGroup / 2; apart > 0; apart /= 2) {
    least = fminf(least, __shfl_xor_sync(0xffffffff, least, apart));
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, apart));
  }
  if (t % kOfGroup == 0 && kEvery * t < n)
    weakest[t / kOfGroup] = fmaxf(least, kCancelled * largest);
}

// Launches both kernels. `weakest` has a place for each group of 32 sorted bodies.
inline void estimate(const float4* bodies, int n, float softening_squared, Cloud* clouds,
                     float* weakest, cudaStream_t stream = nullptr) {
  const int threads = std::min(bodies_per_cloud(n), kCloudBlock);
  find_clouds<<<number_of_clouds(n), threads, 0, stream>>>(bodies, n, clouds);
  find_weakest<<<(n - 1) / (kEvery * kEstimateBlock) + 1, kEstimateBlock, 0, stream>>>(
      bodies, clouds, n, softening_squared, weakest);
}

}  // namespace clouds
