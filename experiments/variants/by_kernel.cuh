// The row sums of step 10 by a kernel of one's own: a thread a row, neighbouring threads read
// neighbouring rows of the same column, so every load is coalesced.
#pragma once

#include "nbody/cuda.h"

__global__ void add_columns_kernel(const float* __restrict__ matrix, int rows, int columns,
                                   float alpha, float beta, const float* __restrict__ ones,
                                   float* __restrict__ sums) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int column = 0; column < columns; ++column) {
    sum = fmaf(matrix[static_cast<size_t>(column) * rows + row], ones[column], sum);
  }
  sums[row] = alpha * sum + (beta == 0.0f ? 0.0f : beta * sums[row]);
}

inline void add_columns_by_kernel(const float* matrix, int rows, int columns, float alpha,
                                  float beta, const float* ones, float* sums) {
  add_columns_kernel<<<(rows + 255) / 256, 256>>>(matrix, rows, columns, alpha, beta, ones, sums);
  CUDA_CHECK(cudaGetLastError());
}
