// Bugs with which a program runs to its end but prints wrong numbers: data that is never set, never
// copied back, set to wrong bytes by cudaMemset, or not covered by the grid.
#ifndef HOSTCUDA_TESTS_FINDINGS_SILENT_BUGS_H
#define HOSTCUDA_TESTS_FINDINGS_SILENT_BUGS_H

#include <vector>

#include "seeded.h"

namespace seeded {

__global__ void square(const float* in, float* out, int n) {
  const int i = index();
  if (i < n) out[i] = in[i] * in[i];
}
SEEDED(result_never_copied_back, "lost result") {
  constexpr int kCount = 100;
  std::vector<float> values(kCount, 3);
  const Buffer<float> in(kCount, false), out(kCount, false);
  cudaMemcpy(in.data, values.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
  // BUG result_never_copied_back
  square<<<2, kThreads>>>(in.data, out.data, kCount);
  if (!wrong) cudaMemcpy(values.data(), out.data, kCount * sizeof(float), cudaMemcpyDeviceToHost);
  cudaDeviceSynchronize();
}

__constant__ float unset_weights[3];
__constant__ float set_weights[3] = {1, 2, 1};
__global__ void weigh(float* out) {
  // BUG constant_never_set
  out[threadIdx.x] = unset_weights[threadIdx.x % 3] + set_weights[threadIdx.x % 3];
}
SEEDED(constant_never_set, "constant never set") {
  const float weights[3] = {1, 1, 1};
  if (!wrong) cudaMemcpyToSymbol(unset_weights, weights, sizeof weights);
  const Buffer<float> out(kThreads, false);
  weigh<<<1, kThreads>>>(out.data);
  out.get();
}

__global__ void paint(int* image, int width, int height) {
  const int x = index();
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x < width && y < height) image[y * width + x] = x;
}
SEEDED(swapped_grid, "partly covered") {
  constexpr int kWidth = 96, kHeight = 32, kTile = 16;
  const Buffer<int> image(kWidth * kHeight, false);
  const dim3 across(kWidth / kTile, kHeight / kTile), down(kHeight / kTile, kWidth / kTile);
  // BUG swapped_grid
  paint<<<wrong ? down : across, dim3(kTile, kTile)>>>(image.data, kWidth, kHeight);
  image.get();
}

__global__ void double_all(int* out) {
  // BUG memset_of_ones
  out[threadIdx.x] *= 2;
}
SEEDED(memset_of_ones, "bytes as a number") {
  const Buffer<int> out(kThreads);
  const std::vector<int> ones(kThreads, 1);
  if (wrong)
    cudaMemset(out.data, 1, kThreads * sizeof(int));
  else
    cudaMemcpy(out.data, ones.data(), kThreads * sizeof(int), cudaMemcpyHostToDevice);
  const Buffer<char> flags(kThreads);  // no bug: each element is one byte
  cudaMemset(flags.data, 1, kThreads);
  double_all<<<1, kThreads>>>(out.data);
  out.get();
  flags.get();
}

__global__ void fetch(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(texture, static_cast<int>(threadIdx.x));
}
SEEDED(texture_in_elements, "texture size") {
  const Buffer<float> in(kThreads), out(kThreads, false);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = in.data;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = kThreads * (wrong ? 1 : sizeof(float));
  const cudaTextureDesc description = {};
  cudaTextureObject_t texture = 0;
  // BUG texture_in_elements
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  fetch<<<1, kThreads>>>(texture, out.data);
  out.get();
  cudaDestroyTextureObject(texture);
}

SEEDED(host_buffer_too_small, "bad copy") {
  const Buffer<int> out(kThreads);
  std::vector<int> values(wrong ? kThreads / 2 : kThreads);
  values.reserve(kThreads / 2);
  // BUG host_buffer_too_small
  cudaMemcpy(values.data(), out.data, kThreads * sizeof(int), cudaMemcpyDeviceToHost);
}

// The launcher recognises library functions by their names.
inline int cublasPretended(int status) { return status; }
SEEDED(library_status_unread, "unchecked error") {
  // BUG library_status_unread
  cublasPretended(wrong ? 7 : 0);
  if (cublasPretended(7) != 7) cudaDeviceSynchronize();
}

SEEDED(event_never_recorded, "unchecked error") {
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  if (!wrong) cudaEventRecord(stop);
  cudaEventSynchronize(stop);
  float milliseconds = 0;
  // BUG event_never_recorded
  cudaEventElapsedTime(&milliseconds, start, stop);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
}

SEEDED(too_many_threads, "unchecked error") {
  const Buffer<int> out(2048);
  // BUG too_many_threads
  paint<<<wrong ? 1 : 2, wrong ? 2048 : 1024>>>(out.data, 2048, 1);
  out.get();
}

__global__ void write_transposed(int* out, bool wrong, int n) {
  const int i = wrong ? static_cast<int>(threadIdx.x * blockDim.x + blockIdx.x) : index();
  if (i < n) out[i] = i;
}
SEEDED(index_mixed_up, "partly covered") {
  const Buffer<int> out(500, false);
  // BUG index_mixed_up
  write_transposed<<<8, kThreads>>>(out.data, wrong, 500);
  out.get();
}

SEEDED(copied_after_free, "bad copy") {
  int* data = nullptr;
  int value = 0;
  cudaMalloc(&data, sizeof value);
  if (wrong) cudaFree(data);
  // BUG copied_after_free
  cudaMemcpy(data, &value, sizeof value, cudaMemcpyHostToDevice);
  if (!wrong) cudaFree(data);
}

__global__ void add_up(const int* in, int* out) {
  __shared__ int part[128];
  const unsigned i = threadIdx.x;
  part[i] = in[i];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    // BUG halved_odd_count
    if (i < half) part[i] += part[i + half];
    __syncthreads();
  }
  if (i == 0) *out = part[0];
}
// This reduction is right for every number of threads.
__global__ void add_up_rounding(const int* in, int* out) {
  __shared__ int part[128];
  const unsigned i = threadIdx.x;
  part[i] = in[i];
  __syncthreads();
  for (unsigned n = blockDim.x; n > 1; n = (n + 1) / 2) {
    if (i < n / 2) part[i] += part[i + (n + 1) / 2];
    __syncthreads();
  }
  if (i == 0) *out = part[0];
}
SEEDED(halved_odd_count, "lost partial result") {
  const Buffer<int> in(128), out(1);
  add_up<<<1, wrong ? 96 : 128>>>(in.data, out.data);
  add_up_rounding<<<1, 96>>>(in.data, out.data);
  add_up_rounding<<<1, 7>>>(in.data, out.data);
  out.get();
}

__global__ void fold(int* values, int n, bool wrong) {
  int sum = 0;
  const int end = wrong ? 2 * kThreads : n;
  for (int i = index(); i < end; i += kThreads)
    if (i < n) sum += values[i];
  // BUG folded_rest_is_copied
  values[threadIdx.x + (wrong ? 100 : 0)] = sum;
}
// The corrected launch writes as many elements as it has threads, and reads all others.
SEEDED(folded_rest_is_copied, "out of bounds") {
  const Buffer<int> values(100);
  fold<<<1, kThreads>>>(values.data, 100, wrong);
  values.get();
}

}  // namespace seeded

#endif
