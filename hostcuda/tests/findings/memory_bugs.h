// Bugs in a kernel's memory accesses: bounds, unwritten bytes, alignment, another thread's memory.
#ifndef HOSTCUDA_TESTS_FINDINGS_MEMORY_BUGS_H
#define HOSTCUDA_TESTS_FINDINGS_MEMORY_BUGS_H

#include <cooperative_groups.h>
#include <cuda_fp16.h>

#include <cstdlib>
#include <vector>

#include "seeded.h"

namespace seeded {

__global__ void add(const float* a, const float* b, float* sum, int n) {
  const int i = index();
  // BUG no_guard
  if (i < n) sum[i] = a[i] + b[i];
}
SEEDED(no_guard, "out of bounds") {
  constexpr int n = 100;
  const Buffer<float> a(n), b(n), sum(n);
  add<<<2, kThreads>>>(a.data, b.data, sum.data, wrong ? 128 : n);
}

__global__ void shift(const int* in, int* out, int by) {
  const int i = index();
  // BUG before_the_beginning
  out[i] = in[i - by];
}
SEEDED(before_the_beginning, "out of bounds") {
  const Buffer<int> in(kThreads), out(kThreads);
  shift<<<1, kThreads>>>(in.data, out.data, wrong ? 1 : 0);
}

__global__ void set_far(char* out, long distance) {
  // BUG far_away
  out[distance] = 1;
}
SEEDED(far_away, "out of bounds") {
  const Buffer<char> out(1000);
  set_far<<<1, 1>>>(out.data, wrong ? 500000 : 999);
}

__global__ void set_double(double* out, int i) {
  // BUG half_out_of_bounds
  out[i] = 1;
}
SEEDED(half_out_of_bounds, "out of bounds") {
  double* out;
  cudaMalloc(&out, wrong ? 12 : 16);
  set_double<<<1, 1>>>(out, 1);
  cudaFree(out);
}

__global__ void set_elements(float* out, int n) {
  const int i = index();
  // BUG bytes_for_elements
  if (i < n) out[i] = 2;
}
SEEDED(bytes_for_elements, "out of bounds") {
  constexpr int n = 100;
  float* out;
  cudaMalloc(&out, wrong ? n : n * sizeof(float));
  set_elements<<<2, kThreads>>>(out, n);
  cudaFree(out);
}

__global__ void stencil(const float* in, float* out, bool wrong) {
  __shared__ float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[index()];
  __syncthreads();
  const int right = wrong || t + 1 < kThreads ? t + 1 : t;
  // BUG shared_tile_edge
  out[index()] = tile[t] + tile[right];
}
SEEDED(shared_tile_edge, "out of bounds") {
  const Buffer<float> in(2 * kThreads), out(2 * kThreads);
  stencil<<<2, kThreads>>>(in.data, out.data, wrong);
}

__global__ void two_tiles(float* out, bool wrong) {
  __shared__ float first[kThreads], second[kThreads];
  float* const pointer = first;
  second[threadIdx.x] = 1;
  // BUG into_the_other_tile
  pointer[threadIdx.x + (wrong ? 1 : 0)] = 2;
  __syncthreads();
  out[threadIdx.x] = second[threadIdx.x];
}
SEEDED(into_the_other_tile, "out of bounds") {
  const Buffer<float> out(kThreads);
  two_tiles<<<1, kThreads>>>(out.data, wrong);
}

__global__ void uses_dynamic(float* out) {
  extern __shared__ float dynamic[];
  // BUG dynamic_shared_forgotten
  dynamic[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = dynamic[kThreads - 1 - threadIdx.x];
}
SEEDED(dynamic_shared_forgotten, "out of bounds") {
  const Buffer<float> out(kThreads);
  uses_dynamic<<<1, kThreads, wrong ? 0 : kThreads * sizeof(float)>>>(out.data);
}

__global__ void dynamic_in_elements(float* out) {
  extern __shared__ float in_elements[];
  // BUG dynamic_shared_in_elements
  in_elements[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = in_elements[kThreads - 1 - threadIdx.x];
}
SEEDED(dynamic_shared_in_elements, "out of bounds") {
  const Buffer<float> out(kThreads);
  dynamic_in_elements<<<1, kThreads, wrong ? kThreads : kThreads * sizeof(float)>>>(out.data);
}

__global__ void local_array(float* out, int n) {
  float values[4];
  // BUG local_array_overrun
  for (int i = 0; i < n; ++i) values[i] = out[i];
  out[0] = values[0] + values[3];
}
SEEDED(local_array_overrun, "out of bounds") {
  const Buffer<float> out(8);
  local_array<<<1, 1>>>(out.data, wrong ? 5 : 4);
}

__device__ int device_table[8];
__global__ void uses_table(int* out, int i) {
  // BUG device_table_overrun
  *out = device_table[i];
}
SEEDED(device_table_overrun, "out of bounds") {
  const Buffer<int> out(1);
  uses_table<<<1, 1>>>(out.data, wrong ? 8 : 7);
}

__global__ void transposed(float* a, int width, int height) {
  const int x = static_cast<int>(blockIdx.x * 8 + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * 8 + threadIdx.y);
  // BUG grid_transposed
  if (x < width) a[y * width + x] = 1;
  (void)height;
}
SEEDED(grid_transposed, "out of bounds") {
  constexpr int width = 32, height = 16;
  const Buffer<float> a(width * height);
  const dim3 right(width / 8, height / 8), swapped(height / 8, width / 8);
  transposed<<<wrong ? swapped : right, dim3(8, 8)>>>(a.data, width, height);
}

__global__ void square_index(char* out, int side) {
  // BUG index_overflow
  const int i = side * side;
  if (i >= 0 && i < 16) out[i] = 1;
}
SEEDED(index_overflow, "overflow") {
  const Buffer<char> out(16);
  square_index<<<1, 1>>>(out.data, wrong ? 50000 : 3);
}

__global__ void count_up(int* bins, const int* in) {
  // BUG bins_not_zeroed
  atomicAdd(&bins[in[threadIdx.x]], 1);
}
SEEDED(bins_not_zeroed, "uninitialised") {
  const Buffer<int> in(kThreads), bins(4, !wrong);
  count_up<<<1, kThreads>>>(bins.data, in.data);
}

__global__ void sum_shared(const int* in, int* out, bool wrong) {
  __shared__ int total;
  if (!wrong && threadIdx.x == 0) total = 0;
  __syncthreads();
  // BUG shared_sum_not_zeroed
  atomicAdd(&total, in[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) *out = total;
}
SEEDED(shared_sum_not_zeroed, "uninitialised") {
  const Buffer<int> in(kThreads), out(1);
  sum_shared<<<1, kThreads>>>(in.data, out.data, wrong);
}

__global__ void increment(int* values, int n) {
  const int i = index();
  // BUG copied_in_elements
  if (i < n) values[i] += 1;
}
SEEDED(copied_in_elements, "uninitialised") {
  constexpr int n = kThreads;
  const std::vector<int> host(n, 1);
  const Buffer<int> values(n, false);
  cudaMemcpy(values.data, host.data(), wrong ? n : n * sizeof(int), cudaMemcpyHostToDevice);
  increment<<<1, kThreads>>>(values.data, n);
  values.get();
}

__global__ void read_bytes(const unsigned char* in, int* out) {
  // BUG bytes_nobody_wrote
  out[threadIdx.x] = in[threadIdx.x];
}
SEEDED(bytes_nobody_wrote, "uninitialised") {
  const Buffer<unsigned char> in(kThreads, false);
  const Buffer<int> out(kThreads);
  cudaMemset(in.data, 1, wrong ? kThreads - 1 : kThreads);
  read_bytes<<<1, kThreads>>>(in.data, out.data);
}

struct Particle {
  float x, y, z, charge;
};
__global__ void set_positions(Particle* p, bool wrong) {
  Particle& own = p[threadIdx.x];
  own.x = own.y = own.z = 0;
  if (!wrong) own.charge = 1;
}
__global__ void use_charge(const Particle* p, float* out) {
  // BUG member_not_set
  out[threadIdx.x] = p[threadIdx.x].charge;
}
SEEDED(member_not_set, "uninitialised") {
  const Buffer<Particle> p(kThreads, false);
  const Buffer<float> out(kThreads);
  set_positions<<<1, kThreads>>>(p.data, wrong);
  use_charge<<<1, kThreads>>>(p.data, out.data);
}

__global__ void copy_vectors(const float* in, float4* out) {
  // BUG misaligned_float4
  out[threadIdx.x] = *reinterpret_cast<const float4*>(in + 4 * threadIdx.x);
}
SEEDED(misaligned_float4, "misaligned") {
  const Buffer<float> in(4 * kThreads + 4);
  const Buffer<float4> out(kThreads);
  copy_vectors<<<1, kThreads>>>(in.data + (wrong ? 1 : 4), out.data);
}

__global__ void store_pairs(float* out) {
  // BUG misaligned_float2
  *reinterpret_cast<float2*>(out + 2 * threadIdx.x) = make_float2(1, 2);
}
SEEDED(misaligned_float2, "misaligned") {
  const Buffer<float> out(2 * kThreads + 2);
  store_pairs<<<1, kThreads>>>(out.data + (wrong ? 1 : 2));
}

// The cast of an odd position in an array of halves. A shuffle moves the pair, although a traced
// program records its copies.
__global__ void swap_halves(const __half* in, __half2* out) {
  namespace cg = cooperative_groups;
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  // BUG misaligned_half2
  const __half2 pair = *reinterpret_cast<const __half2*>(in + 2 * threadIdx.x);
  out[threadIdx.x] = warp.shfl_xor(pair, 1);
}
SEEDED(misaligned_half2, "misaligned") {
  const Buffer<__half> in(2 * kThreads + 2);
  const Buffer<__half2> out(kThreads);
  swap_halves<<<1, kThreads>>>(in.data + (wrong ? 1 : 2), out.data);
}

__global__ void load_double(const char* in, double* out) {
  // BUG misaligned_double
  *out = *reinterpret_cast<const double*>(in);
}
SEEDED(misaligned_double, "misaligned") {
  const Buffer<char> in(32);
  const Buffer<double> out(1);
  load_double<<<1, 1>>>(in.data + (wrong ? 4 : 8), out.data);
}

// The rows of a matrix that ldmatrix loads must be aligned to 16 bytes. A row of nine elements is
// not.
__global__ void load_rows(unsigned* out, int row) {
  __shared__ alignas(16) unsigned short tile[8 * 16];
  for (int i = threadIdx.x; i < 8 * 16; i += kThreads) tile[i] = static_cast<unsigned short>(i);
  __syncthreads();
  const auto address = __cvta_generic_to_shared(tile + threadIdx.x % 8 * row);
  unsigned loaded;
  // BUG misaligned_rows
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(loaded)
               : "r"(static_cast<unsigned>(address)));
  out[threadIdx.x] = loaded;
}
SEEDED(misaligned_rows, "misaligned") {
  const Buffer<unsigned> out(kThreads);
  load_rows<<<1, kThreads>>>(out.data, wrong ? 9 : 16);
}

__global__ void sum_row(const float* matrix, float* out) {
  float sum = 0;
  for (int i = 0; i < kThreads; ++i)
    // BUG row_width_in_elements
    sum += matrix[threadIdx.x * kThreads + i];
  out[threadIdx.x] = sum;
}
SEEDED(row_width_in_elements, "uninitialised") {
  const std::vector<float> rows(4 * kThreads, 1.0f);
  float *matrix, *out;
  cudaMalloc(&matrix, rows.size() * sizeof(float));
  cudaMalloc(&out, 4 * sizeof(float));
  constexpr int kBytes = kThreads * sizeof(float);
  cudaMemcpy2D(matrix, kBytes, rows.data(), kBytes, wrong ? kThreads : kBytes, 4,
               cudaMemcpyHostToDevice);
  sum_row<<<1, 4>>>(matrix, out);
  float sums[4];
  cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost);
  cudaFree(matrix);
  cudaFree(out);
}

__global__ void twice(float* values) {
  // BUG host_pointer
  values[threadIdx.x] *= 2;
}
SEEDED(host_pointer, "host pointer") {
  auto* host = static_cast<float*>(std::calloc(kThreads, sizeof(float)));
  const Buffer<float> device(kThreads);
  twice<<<1, kThreads>>>(wrong ? host : device.data);
  cudaDeviceSynchronize();
  std::free(host);
}

struct Arguments {
  int n;
  const int* values;
};
__global__ void through_struct(Arguments a, int* out) {
  // BUG host_pointer_in_a_struct
  *out = a.values[a.n - 1];
}
SEEDED(host_pointer_in_a_struct, "host pointer") {
  const int host[4] = {};
  const Buffer<int> device(4), out(1);
  through_struct<<<1, 1>>>({4, wrong ? host : device.data}, out.data);
  cudaDeviceSynchronize();
}

__global__ void uses_freed(int* values) {
  // BUG freed_before_the_kernel
  values[threadIdx.x] = 1;
}
SEEDED(freed_before_the_kernel, "use after free") {
  int* values;
  cudaMalloc(&values, kThreads * sizeof(int));
  if (wrong) cudaFree(values);
  uses_freed<<<1, kThreads>>>(values);
  cudaDeviceSynchronize();
  if (!wrong) cudaFree(values);
}

__global__ void publish_local(float** slot, float* out) {
  float mine = static_cast<float>(threadIdx.x);
  if (threadIdx.x == 0) *slot = &mine;
  __syncthreads();
  // BUG local_of_another_thread
  if (threadIdx.x == 1) *out = **slot;
  __syncthreads();
}
__global__ void publish_shared(float* out) {
  __shared__ float value;
  if (threadIdx.x == 0) value = 1;
  __syncthreads();
  if (threadIdx.x == 1) *out = value;
}
SEEDED(local_of_another_thread, "local memory") {
  const Buffer<float*> slot(1);
  const Buffer<float> out(1);
  if (wrong)
    publish_local<<<1, kThreads>>>(slot.data, out.data);
  else
    publish_shared<<<1, kThreads>>>(out.data);
}

}  // namespace seeded

#endif
