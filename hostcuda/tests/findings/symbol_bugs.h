// Bugs with __device__ variables and with tables of virtual functions. They occur because host code
// and kernels have separate copies of these variables and tables.
#ifndef HOSTCUDA_TESTS_FINDINGS_SYMBOL_BUGS_H
#define HOSTCUDA_TESTS_FINDINGS_SYMBOL_BUGS_H

#include <new>

#include "seeded.h"

namespace seeded {

__device__ int hits;
__constant__ int weights[kThreads];
__device__ int totals[kThreads];

__global__ void count_hits() { atomicAdd(&hits, 1); }

inline volatile int last_value;

SEEDED(device_variable_read_by_host, "device pointer") {
  count_hits<<<1, kThreads>>>();
  int value = 0;
  cudaMemcpyFromSymbol(&value, hits, sizeof value);
  // BUG device_variable_read_by_host
  if (wrong) value = hits;
  last_value = value;
}

SEEDED(device_variable_written_by_host, "device pointer") {
  const int zero = 0;
  cudaMemcpyToSymbol(hits, &zero, sizeof zero);
  // BUG device_variable_written_by_host
  if (wrong) hits = 0;
  count_hits<<<1, kThreads>>>();
  cudaDeviceSynchronize();
}

SEEDED(copied_to_a_constant, "bad copy") {
  const std::vector<int> host(kThreads, 1);
  // BUG copied_to_a_constant
  if (wrong) cudaMemcpy(weights, host.data(), sizeof weights, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(weights, host.data(), sizeof weights);
}

SEEDED(copy_beyond_a_constant, "unchecked error") {
  const std::vector<int> host(kThreads + 1, 1);
  // BUG copy_beyond_a_constant
  cudaMemcpyToSymbol(weights, host.data(), (wrong ? kThreads + 1 : kThreads) * sizeof(int));
}

SEEDED(copied_from_a_device_variable, "bad copy") {
  std::vector<int> host(kThreads);
  const void* from = totals;
  if (!wrong) {
    void* address = nullptr;
    cudaGetSymbolAddress(&address, totals);
    from = address;
  }
  // BUG copied_from_a_device_variable
  cudaMemcpy(host.data(), from, sizeof totals, cudaMemcpyDeviceToHost);
}

__device__ int table[kThreads];
__global__ void fill_table(int* out) { out[threadIdx.x] = 1; }

SEEDED(address_of_a_device_variable, "host pointer") {
  int* address = table;
  if (!wrong) cudaGetSymbolAddress(reinterpret_cast<void**>(&address), table);
  // BUG address_of_a_device_variable
  fill_table<<<1, kThreads>>>(address);
  cudaDeviceSynchronize();
}

struct Shape {
  __host__ __device__ explicit Shape(int side) : side_(side) {}
  __host__ __device__ virtual int area() const { return side_ * side_; }

 protected:
  int side_;
};
struct Cube : Shape {
  using Shape::Shape;
  __host__ __device__ int area() const override { return 6 * side_ * side_; }
};

__global__ void construct(Cube* cube) { new (cube) Cube(2); }
__global__ void measure(const Shape* shape, int* out) {
  // BUG virtual_call_of_a_host_object
  out[threadIdx.x] = shape->area();
}

SEEDED(virtual_call_of_a_host_object, "virtual call") {
  const Buffer<Cube> cube(1, false);
  const Buffer<int> out(kThreads);
  const Cube host(2);
  if (wrong)
    cudaMemcpy(static_cast<void*>(cube.data), &host, sizeof host, cudaMemcpyHostToDevice);
  else
    construct<<<1, 1>>>(cube.data);
  measure<<<1, kThreads>>>(cube.data, out.data);
  out.get();
}

__global__ void count_threads(bool wrong) {
  if (wrong)
    // BUG device_variable_without_atomic
    ++hits;
  else
    atomicAdd(&hits, 1);
}
SEEDED(device_variable_without_atomic, "lost update") {
  count_threads<<<2, kThreads>>>(wrong);
  cudaDeviceSynchronize();
}

// Reads a value that another block may not have written yet.
__global__ void fill_and_read(int* out) {
  if (blockIdx.x == 0) totals[threadIdx.x] = 1;
  // BUG device_array_of_another_block
  out[index()] = totals[threadIdx.x];
}
SEEDED(device_array_of_another_block, "race") {
  const int blocks = wrong ? 2 : 1;
  const Buffer<int> out(static_cast<std::size_t>(blocks * kThreads));
  fill_and_read<<<blocks, kThreads>>>(out.data);
  out.get();
}

}  // namespace seeded

#endif
