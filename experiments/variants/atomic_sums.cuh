// Computes the sums of step 12 by atomic additions, in whatever order the blocks run.
#pragma once

#include "nbody/cuda.h"

__device__ inline void add(float3& sum, float factor, float3 a) {
  atomicAdd(&sum.x, factor * a.x);
  atomicAdd(&sum.y, factor * a.y);
  atomicAdd(&sum.z, factor * a.z);
}

// Returns the sum and sets it to zero for the next time step.
__device__ inline float3 take(float3& sum) {
  const float3 whole = sum;
  sum = {};
  return whole;
}
