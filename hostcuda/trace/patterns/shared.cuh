// Patterns of shared memory: rows, columns, strides, broadcasts, and wide elements.
#pragma once

#include "common.cuh"

namespace patterns {

template <int kPadding>
__device__ void transpose_by_tile(const float* in, float* out) {
  __shared__ float tile[kWarp][kWarp + kPadding];
  tile[threadIdx.y][threadIdx.x] =
      in[(blockIdx.y * kWarp + threadIdx.y) * kSide + blockIdx.x * kWarp + threadIdx.x];
  __syncthreads();
  out[(blockIdx.x * kWarp + threadIdx.y) * kSide + blockIdx.y * kWarp + threadIdx.x] =
      tile[threadIdx.x][threadIdx.y];
}
__global__ void shared_column(const float* in, float* out) { transpose_by_tile<0>(in, out); }
__global__ void shared_column_padded(const float* in, float* out) { transpose_by_tile<1>(in, out); }

// Each thread writes the element at its own index, then reads the element at the chosen index.
template <class T>
__device__ T through_shared(T value, int chosen) {
  __shared__ T tile[kBlockSize];
  tile[threadIdx.x] = value;
  __syncthreads();
  return tile[chosen];
}

__global__ void shared_reversed(float* out) {
  out[thread_in_grid()] = through_shared(1.0f, kBlockSize - 1 - threadIdx.x);
}
__global__ void shared_stride_2(float* out) {
  out[thread_in_grid()] = through_shared(1.0f, 2 * threadIdx.x % kBlockSize);
}
__global__ void shared_broadcast(float* out, int k) {
  out[thread_in_grid()] = through_shared(1.0f, k);
}
__global__ void shared_8_bytes(float2* out) {
  out[thread_in_grid()] = through_shared(make_float2(1, 2), kBlockSize - 1 - threadIdx.x);
}
__global__ void shared_16_bytes(float4* out) {
  out[thread_in_grid()] = through_shared(make_float4(1, 2, 3, 4), kBlockSize - 1 - threadIdx.x);
}
__global__ void shared_16_bytes_broadcast(float4* out, int k) {
  out[thread_in_grid()] = through_shared(make_float4(1, 2, 3, 4), k);
}

// In these patterns, the same element is read by all threads, by both halves of a warp, or by a
// pair of lanes.
__global__ void shared_8_bytes_broadcast(float2* out, int k) {
  out[thread_in_grid()] = through_shared(make_float2(1, 2), k);
}
__global__ void shared_8_bytes_halves(float2* out) {
  out[thread_in_grid()] = through_shared(make_float2(1, 2), threadIdx.x % 16);
}
__global__ void shared_8_bytes_pairs(float2* out) {
  out[thread_in_grid()] = through_shared(make_float2(1, 2), threadIdx.x / 2);
}
__global__ void shared_8_bytes_stride_2(float2* out) {
  out[thread_in_grid()] = through_shared(make_float2(1, 2), 2 * threadIdx.x % kBlockSize);
}
__global__ void shared_16_bytes_halves(float4* out) {
  out[thread_in_grid()] = through_shared(make_float4(1, 2, 3, 4), threadIdx.x % 16);
}
__global__ void shared_16_bytes_quarters(float4* out) {
  out[thread_in_grid()] = through_shared(make_float4(1, 2, 3, 4), threadIdx.x % 8);
}
__global__ void shared_16_bytes_pairs(float4* out) {
  out[thread_in_grid()] = through_shared(make_float4(1, 2, 3, 4), threadIdx.x / 2);
}
__global__ void shared_16_bytes_stride_2(float4* out) {
  out[thread_in_grid()] = through_shared(make_float4(1, 2, 3, 4), 2 * threadIdx.x % kBlockSize);
}

// `index` is a permutation of the grid's threads.
__global__ void shared_gather(const int* index, float* out) {
  const int i = thread_in_grid();
  out[i] = through_shared(1.0f, index[i] % kBlockSize);
}
__global__ void shared_gather_8_bytes(const int* index, float2* out) {
  const int i = thread_in_grid();
  out[i] = through_shared(make_float2(1, 2), index[i] % kBlockSize);
}
__global__ void shared_gather_16_bytes(const int* index, float4* out) {
  const int i = thread_in_grid();
  out[i] = through_shared(make_float4(1, 2, 3, 4), index[i] % kBlockSize);
}

template <class Struct>
__device__ float member_in_shared(int chosen) {
  __shared__ Struct tile[kBlockSize];
  tile[threadIdx.x].x = 1.0f;
  __syncthreads();
  return tile[chosen].x;
}
__global__ void shared_member_of_12_bytes(float* out, int offset) {
  out[thread_in_grid()] = member_in_shared<Triple>((threadIdx.x + offset) % kBlockSize);
}
__global__ void shared_member_of_16_bytes(float* out, int offset) {
  out[thread_in_grid()] = member_in_shared<Quad>((threadIdx.x + offset) % kBlockSize);
}

__global__ void shared_dynamic(float* out) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = 1.0f;
  __syncthreads();
  out[thread_in_grid()] = tile[threadIdx.x ^ 1];
}

// Every thread reads the whole tile, as in the force loop of step 09. nvcc may load four floats at
// once.
__global__ void shared_loop(float* out) {
  __shared__ float tile[kBlockSize];
  tile[threadIdx.x] = 1.0f;
  __syncthreads();
  float sum = 0.0f;
#pragma unroll 8
  for (int j = 0; j < kBlockSize; ++j) sum += tile[j];
  out[thread_in_grid()] = sum;
}

}  // namespace patterns
