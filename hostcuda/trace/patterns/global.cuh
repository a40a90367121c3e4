// Patterns of global memory: loads, stores, atomics. Each kernel makes one kind of access, which
// the kernel's name describes; its other accesses are coalesced stores.
#pragma once

#include "common.cuh"

namespace patterns {

// ---- global loads -------------------------------------------------------------------------------

template <class T>
__device__ void copy(const T* from, T* to) {
  const int i = thread_in_grid();
  to[i] = from[i];
}
__global__ void coalesced_4_bytes(const float* x, float* out) { copy(x, out); }
__global__ void coalesced_8_bytes(const float2* x, float2* out) { copy(x, out); }
__global__ void coalesced_16_bytes(const float4* x, float4* out) { copy(x, out); }

__global__ void read_only_load(const float* __restrict__ x, float* __restrict__ out) {
  const int i = thread_in_grid();
  out[i] = __ldg(&x[i]);
}

__global__ void offset_by_one(const float* x, float* out) {
  const int i = thread_in_grid();
  out[i] = x[i + 1];
}

__global__ void stride_2(const float* x, float* out) {
  const int i = thread_in_grid();
  out[i] = x[2 * i];
}

__global__ void every_second_thread(const float* x, float* out) {
  const int i = thread_in_grid();
  if (i % 2 == 0) out[i] = x[i];
}

__global__ void member_of_12_bytes(const Triple* x, float* out) {
  const int i = thread_in_grid();
  out[i] = x[i].y;
}

__global__ void whole_12_bytes(const Triple* x, float* out) {
  const int i = thread_in_grid();
  out[i] = x[i].x + x[i].y + x[i].z;
}

__global__ void member_of_16_bytes(const Quad* x, float* out) {
  const int i = thread_in_grid();
  out[i] = x[i].x;
}

__global__ void whole_16_bytes(const Quad* x, float* out) {
  const int i = thread_in_grid();
  out[i] = x[i].x + x[i].y + x[i].z + x[i].w;
}

__global__ void member_of_float4(const float4* x, float* out) {
  const int i = thread_in_grid();
  out[i] = x[i].y;
}

__global__ void stride_2_of_float4(const float4* x, float4* out) {
  const int i = thread_in_grid();
  out[i] = x[2 * i];
}

__global__ void member_of_28_bytes(const Seven* x, float* out) {
  const int i = thread_in_grid();
  out[i] = x[i].x;
}

__global__ void whole_28_bytes(const Seven* x, float* out) {
  const int i = thread_in_grid();
  const Seven s = x[i];
  out[i] = s.x + s.y + s.z + s.vx + s.vy + s.vz + s.mass;
}

__global__ void broadcast(const float* x, float* out, int k) { out[thread_in_grid()] = x[k]; }

__global__ void broadcast_16_bytes(const float4* x, float4* out, int k) {
  out[thread_in_grid()] = x[k];
}

// As in the naive loop over all bodies, every thread of a warp loads the same body.
__global__ void broadcast_28_bytes(const Seven* x, float* out, int n) {
  float sum = 0.0f;
  for (int j = 0; j < n; ++j) sum += x[j].mass * (x[j].x + x[j].y + x[j].z);
  out[thread_in_grid()] = sum;
}

__global__ void gather(const float* x, const int* index, float* out) {
  const int i = thread_in_grid();
  out[i] = x[index[i]];
}

__global__ void gather_16_bytes(const float4* x, const int* index, float4* out) {
  const int i = thread_in_grid();
  out[i] = x[index[i]];
}

// ---- global stores ------------------------------------------------------------------------------

__global__ void store_stride_2(float* out) { out[2 * thread_in_grid()] = 1.0f; }

__global__ void store_member_of_28_bytes(Seven* out) { out[thread_in_grid()].vx = 1.0f; }

__global__ void transpose_naive(const float* in, float* out) {
  const int x = blockIdx.x * kWarp + threadIdx.x, y = blockIdx.y * kWarp + threadIdx.y;
  out[x * kSide + y] = in[y * kSide + x];
}

// ---- atomics, shuffles --------------------------------------------------------------------------

__global__ void atomic_neighbours(float* out) { atomicAdd(&out[thread_in_grid()], 1.0f); }
__global__ void atomic_same_address(int* out) { atomicAdd(out, static_cast<int>(threadIdx.x)); }

__global__ void warp_sum(const float* x, float* out) {
  const int i = thread_in_grid();
  float sum = x[i];
  for (int d = kWarp / 2; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (i % kWarp == 0) out[i / kWarp] = sum;
}

}  // namespace patterns
