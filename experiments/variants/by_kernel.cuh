// Adds up the partial sums of step 10 by a separate kernel with one thread per row. Neighbouring
// threads read neighbouring rows of a column, so that every load is coalesced.
#pragma once

#include "nbody/cuda.h"

// Adds factor * (the sum of the columns) to sums.
__global__ void add_columns(const float* __restrict__ matrix, int rows, int columns, float factor,
                            float* __restrict__ sums) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int column = 0; column < columns; ++column) {
    sum += matrix[static_cast<size_t>(column) * rows + row];
  }
  sums[row] = fmaf(factor, sum, sums[row]);
}

inline void add_columns_by_kernel(const float* matrix, int rows, int columns, float factor,
                                  float* sums) {
  add_columns<<<(rows - 1) / 256 + 1, 256>>>(matrix, rows, columns, factor, sums);
  CUDA_CHECK(cudaGetLastError());
}
