// Adds up the partial sums of step 10 by CUB's segmented reduction. CUB requires contiguous rows,
// but here columns are contiguous. An iterator therefore finds value k, counted row by row.
#pragma once

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/tabulate_output_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_segmented_reduce.cuh>

#include "nbody/cuda.h"

struct ByRows {
  const float* matrix;
  long long rows, columns;
  __host__ __device__ float operator()(long long k) const {
    return matrix[k % columns * rows + k / columns];
  }
};
struct RowStart {
  long long columns;
  __host__ __device__ long long operator()(long long row) const { return row * columns; }
};
struct AddTo {
  float factor;
  float* sums;
  __device__ void operator()(long long row, float sum) const {
    sums[row] = fmaf(factor, sum, sums[row]);
  }
};

// Adds factor * (the sum of the columns) to sums.
inline void add_columns_by_cub(const float* matrix, int rows, int columns, float factor,
                               float* sums) {
  const thrust::counting_iterator<long long> count(0);
  const auto values = thrust::make_transform_iterator(count, ByRows{matrix, rows, columns});
  const auto starts = thrust::make_transform_iterator(count, RowStart{columns});
  const auto add = thrust::make_tabulate_output_iterator(AddTo{factor, sums});
  size_t bytes = 0;
  CUDA_CHECK(
      cub::DeviceSegmentedReduce::Sum(nullptr, bytes, values, add, rows, starts, starts + 1));
  static nbody::DeviceArray<char> storage;
  if (storage.size() < bytes) storage = nbody::DeviceArray<char>(bytes);
  CUDA_CHECK(
      cub::DeviceSegmentedReduce::Sum(storage.get(), bytes, values, add, rows, starts, starts + 1));
}
