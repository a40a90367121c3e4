// Sums with a correction for the rounding of each addition (Kahan, CACM 8, 40, 1965). nvcc does
// not reorder additions, not even with -use_fast_math.
#pragma once

#include <cuda_runtime.h>

__device__ inline void add(float term, float& sum, float& lost) {
  const float corrected = term - lost;
  const float next = sum + corrected;
  lost = (next - sum) - corrected;
  sum = next;
}

// Adds the product of a and b to the sum. fmaf does not round the product before the addition.
__device__ inline void add_product(float a, float b, float& sum, float& lost) {
  const float corrected = fmaf(a, b, -lost);
  const float next = sum + corrected;
  lost = (next - sum) - corrected;
  sum = next;
}
