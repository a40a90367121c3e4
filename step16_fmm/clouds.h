// Estimates of forces from a few clouds: runs of bodies sorted along the curve, each as a soft
// body.
#pragma once

#include "nbody/cuda.h"
#include "nbody/float3.h"
#include "nbody/step.h"

namespace clouds {
using namespace nbody;

constexpr int kClouds = TUNABLE(CLOUDS, 64);  // of a system

struct Cloud {
  float4 centre;         // centre of mass; w: mass
  float spread_squared;  // mean of the squared distances from the centre
};

__host__ __device__ inline int bodies_per_cloud(int n) { return (n - 1) / kClouds + 1; }

__device__ inline float sum_of_warp(float x) {
  for (int apart = 16; apart > 0; apart /= 2) x += __shfl_xor_sync(0xffffffff, x, apart);
  return x;
}

// One warp per cloud.
static __global__ void find_clouds(const float4* __restrict__ bodies, int n,
                                   Cloud* __restrict__ clouds) {
  const int count = bodies_per_cloud(n), first = blockIdx.x * count;
  const float3 near = xyz(bodies[min(first, n - 1)]);  // positions from here keep more digits
  float mass = 0, square = 0;
  float3 weighted{};
#pragma unroll 4
  for (int i = first + threadIdx.x; i < min(first + count, n); i += 32) {
    const float4 body = bodies[i];
    const float3 d = xyz(body) - near;
    mass += body.w;
    weighted += body.w * d;
    square += body.w * dot(d, d);
  }
  mass = sum_of_warp(mass);
  const float inverse = mass > 0 ? 1 / mass : 0;
  const float3 mean =
      inverse * float3{sum_of_warp(weighted.x), sum_of_warp(weighted.y), sum_of_warp(weighted.z)};
  square = inverse * sum_of_warp(square);
  const float3 c = near + mean;
  if (threadIdx.x == 0)
    clouds[blockIdx.x] = {{c.x, c.y, c.z, mass}, fmaxf(square - dot(mean, mean), 0)};
}

// Returns an estimate of |a| for sorted body i. Its own cloud is left out: there a heavy body pulls
// the others, but not itself. An estimate that is too small only takes time.
__device__ inline float estimated_force(const Cloud* __restrict__ clouds, int n, int i, float4 body,
                                        float softening_squared) {
  const int own = i / bodies_per_cloud(n), last = (n - 1) / bodies_per_cloud(n);
  float3 a{};
#pragma unroll 4
  for (int k = 0; k <= last; ++k) {
    const float4 c = clouds[k].centre;
    const float3 d = xyz(c) - xyz(body);
    const float inverse = rsqrtf(dot(d, d, softening_squared + clouds[k].spread_squared));
    const float mass = k == own ? 0 : c.w;
    a = a + mass * inverse * (inverse * inverse) * d;
  }
  return sqrtf(dot(a, a));
}

}  // namespace clouds
