// Bugs in host code: frees, copies, errors, launches, and reads that come too early.
#ifndef HOSTCUDA_TESTS_FINDINGS_HOST_BUGS_H
#define HOSTCUDA_TESTS_FINDINGS_HOST_BUGS_H

#include <cstdlib>

#include "seeded.h"

namespace seeded {

__global__ void fill_ones(int* out, int n) {
  const int i = index();
  if (i < n) out[i] = 1;
}

SEEDED(freed_twice, "double free") {
  int* p;
  cudaMalloc(&p, 400);
  cudaFree(p);
  // BUG freed_twice
  if (wrong) cudaFree(p);
}

SEEDED(freed_inside, "bad free") {
  int* p;
  cudaMalloc(&p, 400);
  // BUG freed_inside
  if (wrong) cudaFree(p + 1);
  cudaFree(p);
}

SEEDED(freed_host_memory, "bad free") {
  void* p = std::malloc(400);
  // BUG freed_host_memory
  if (wrong) cudaFree(p);
  std::free(p);
}

SEEDED(pinned_freed_as_device, "bad free") {
  int* p;
  cudaMallocHost(&p, 400);
  // BUG pinned_freed_as_device
  if (wrong) cudaFree(p);
  cudaFreeHost(p);
}

SEEDED(never_freed, "leak") {
  int* p;
  // BUG never_freed
  cudaMalloc(&p, 400);
  if (!wrong) cudaFree(p);
}

SEEDED(allocated_in_a_loop, "leak") {
  int* p = nullptr;
  for (int i = 0; i < 3; ++i) {
    // BUG allocated_in_a_loop
    cudaMalloc(&p, 400);
    if (!wrong) cudaFree(p);
  }
  if (wrong) cudaFree(p);
}

SEEDED(pinned_never_freed, "leak") {
  int* p;
  // BUG pinned_never_freed
  cudaMallocHost(&p, 400);
  if (!wrong) cudaFreeHost(p);
}

SEEDED(never_used, "unused memory") {
  int *used, *meant;
  cudaMalloc(&used, kThreads * sizeof(int));
  // BUG never_used
  cudaMalloc(&meant, kThreads * sizeof(int));
  fill_ones<<<1, kThreads>>>(used, kThreads);
  if (!wrong) fill_ones<<<1, kThreads>>>(meant, kThreads);
  cudaFree(used);
  cudaFree(meant);
}

SEEDED(wrong_direction, "bad copy") {
  const std::vector<int> host(kThreads, 1);
  const Buffer<int> device(kThreads);
  const auto kind = wrong ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
  // BUG wrong_direction
  cudaMemcpy(device.data, host.data(), kThreads * sizeof(int), kind);
}

SEEDED(swapped_arguments, "bad copy") {
  std::vector<int> host(kThreads, 1);
  const Buffer<int> device(kThreads);
  void* to = wrong ? static_cast<void*>(device.data) : host.data();
  void* from = wrong ? static_cast<void*>(host.data()) : device.data;
  // BUG swapped_arguments
  cudaMemcpy(to, from, kThreads * sizeof(int), cudaMemcpyDeviceToHost);
}

SEEDED(copy_too_large, "bad copy") {
  const std::vector<int> host(2 * kThreads, 1);
  const Buffer<int> device(kThreads);
  const std::size_t bytes = (wrong ? 2 : 1) * kThreads * sizeof(int);
  // BUG copy_too_large
  cudaMemcpy(device.data, host.data(), bytes, cudaMemcpyHostToDevice);
}

SEEDED(copy_from_freed, "bad copy") {
  std::vector<int> host(kThreads);
  int* device;
  cudaMalloc(&device, kThreads * sizeof(int));
  cudaMemset(device, 0, kThreads * sizeof(int));
  if (wrong) cudaFree(device);
  // BUG copy_from_freed
  cudaMemcpy(host.data(), device, kThreads * sizeof(int), cudaMemcpyDeviceToHost);
  if (!wrong) cudaFree(device);
}

SEEDED(memset_of_host_memory, "bad copy") {
  std::vector<int> host(kThreads);
  const Buffer<int> device(kThreads);
  // BUG memset_of_host_memory
  cudaMemset(wrong ? host.data() : device.data, 0, kThreads * sizeof(int));
}

SEEDED(copied_back_in_elements, "copy too small") {
  std::vector<int> host(kThreads);
  const Buffer<int> device(kThreads, false);
  fill_ones<<<1, kThreads>>>(device.data, kThreads);
  const std::size_t bytes = wrong ? kThreads : kThreads * sizeof(int);
  // BUG copied_back_in_elements
  cudaMemcpy(host.data(), device.data, bytes, cudaMemcpyDeviceToHost);
}

SEEDED(copied_back_unwritten, "uninitialised") {
  const Buffer<int> device(kThreads, !wrong);
  std::vector<int> host(kThreads);
  // BUG copied_back_unwritten
  cudaMemcpy(host.data(), device.data, kThreads * sizeof(int), cudaMemcpyDeviceToHost);
}

SEEDED(one_result_never_written, "uninitialised") {
  const Buffer<int> sum(1, !wrong);
  int host;
  // BUG one_result_never_written
  cudaMemcpy(&host, sum.data, sizeof host, cudaMemcpyDeviceToHost);
}

SEEDED(grid_rounded_down, "partly covered") {
  constexpr int n = 100;
  const Buffer<int> out(n, false);
  std::vector<int> host(n);
  fill_ones<<<wrong ? n / kThreads : (n + kThreads - 1) / kThreads, kThreads>>>(out.data, n);
  // BUG grid_rounded_down
  cudaMemcpy(host.data(), out.data, n * sizeof(int), cudaMemcpyDeviceToHost);
}

__global__ void twice_each(int* out, int n) {
  const int i = index();
  if (i < n) out[i] *= 2;
}
SEEDED(grid_rounded_down_in_place, "partly covered") {
  constexpr int n = 100;
  std::vector<int> host(n, 1);
  const Buffer<int> values(n);
  cudaMemcpy(values.data, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  twice_each<<<wrong ? n / kThreads : (n + kThreads - 1) / kThreads, kThreads>>>(values.data, n);
  // BUG grid_rounded_down_in_place
  cudaMemcpy(host.data(), values.data, n * sizeof(int), cudaMemcpyDeviceToHost);
}

SEEDED(launch_error_unasked, "unchecked error") {
  const Buffer<int> out(kThreads);
  // BUG launch_error_unasked
  fill_ones<<<1, wrong ? 2048 : kThreads>>>(out.data, kThreads);
  cudaDeviceSynchronize();
}

SEEDED(zero_blocks, "unchecked error") {
  const Buffer<int> out(kThreads);
  const int n = wrong ? kThreads - 1 : kThreads;
  // BUG zero_blocks
  fill_ones<<<n / kThreads, kThreads>>>(out.data, n);
}

SEEDED(allocation_error_unasked, "unchecked error") {
  void* p = nullptr;
  // BUG allocation_error_unasked
  cudaMalloc(&p, wrong ? std::size_t{1} << 40 : 400);
  cudaFree(p);
}

SEEDED(shared_memory_beyond_limit, "unchecked error") {
  const Buffer<int> out(kThreads);
  // BUG shared_memory_beyond_limit
  fill_ones<<<1, kThreads, wrong ? 65536 : 0>>>(out.data, kThreads);
}

__global__ void asserts_nothing(int* out, bool wrong) {
  if (wrong) __trap();
  *out = 1;
}
SEEDED(kernel_error_unasked, "unchecked error") {
  const Buffer<int> out(1);
  asserts_nothing<<<1, 1>>>(out.data, wrong);
  // BUG kernel_error_unasked
  cudaDeviceSynchronize();
}

SEEDED(device_memory_read_by_host, "device pointer") {
  const Buffer<int> values(kThreads);
  // BUG device_memory_read_by_host
  int sum = wrong ? values.data[3] : values.get()[3];
  if (sum) std::abort();
}

SEEDED(device_memory_written_by_host, "device pointer") {
  const Buffer<int> values(kThreads);
  // BUG device_memory_written_by_host
  if (wrong) values.data[3] = 1;
}

SEEDED(managed_read_too_early, "not synchronised") {
  int* m;
  cudaMallocManaged(&m, kThreads * sizeof(int));
  fill_ones<<<1, kThreads>>>(m, kThreads);
  if (!wrong) cudaDeviceSynchronize();
  // BUG managed_read_too_early
  if (m[5] != 1) std::abort();
  cudaDeviceSynchronize();
  cudaFree(m);
}

SEEDED(managed_written_too_early, "not synchronised") {
  int* m;
  cudaMallocManaged(&m, kThreads * sizeof(int));
  fill_ones<<<1, kThreads>>>(m, kThreads);
  if (!wrong) cudaDeviceSynchronize();
  // BUG managed_written_too_early
  m[5] = 3;
  cudaDeviceSynchronize();
  cudaFree(m);
}

__global__ void add_one_each(float* sum) {
  // BUG managed_sum_not_zeroed
  atomicAdd(sum, 1.0f);
}
SEEDED(managed_sum_not_zeroed, "uninitialised") {
  float* sum;
  cudaMallocManaged(&sum, sizeof *sum);
  if (!wrong) *sum = 0;
  add_one_each<<<1, kThreads>>>(sum);
  cudaDeviceSynchronize();
  cudaFree(sum);
}

SEEDED(managed_part_not_written, "uninitialised") {
  constexpr int n = 2 * kThreads;
  int *m, sum = 0;
  cudaMallocManaged(&m, n * sizeof *m);
  fill_ones<<<wrong ? 1 : 2, kThreads>>>(m, n);
  cudaDeviceSynchronize();
  // BUG managed_part_not_written
  for (int i = 0; i < n; ++i) sum += m[i];
  if (!wrong && sum != n) std::abort();
  cudaFree(m);
}

SEEDED(pinned_read_too_early, "not synchronised") {
  int* host;
  cudaMallocHost(&host, kThreads * sizeof(int));
  const Buffer<int> device(kThreads);
  const Stream stream;
  cudaMemcpyAsync(host, device.data, kThreads * sizeof(int), cudaMemcpyDeviceToHost, stream);
  if (!wrong) cudaStreamSynchronize(stream);
  // BUG pinned_read_too_early
  if (host[5]) std::abort();
  cudaStreamSynchronize(stream);
  cudaFreeHost(host);
}

SEEDED(mapped_read_too_early, "not synchronised") {
  int *host, *device;
  cudaHostAlloc(&host, kThreads * sizeof(int), cudaHostAllocMapped);
  cudaHostGetDevicePointer(&device, host, 0);
  fill_ones<<<1, kThreads>>>(device, kThreads);
  if (!wrong) cudaDeviceSynchronize();
  // BUG mapped_read_too_early
  if (host[5] != 1) std::abort();
  cudaDeviceSynchronize();
  cudaFreeHost(host);
}

SEEDED(event_time_too_early, "not synchronised") {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin);
  cudaEventRecord(end);
  if (!wrong) cudaEventSynchronize(end);
  float milliseconds;
  // BUG event_time_too_early
  cudaEventElapsedTime(&milliseconds, begin, end);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
}

}  // namespace seeded

#endif
