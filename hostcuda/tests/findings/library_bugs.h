// Memory that a library writes or allocates.
#ifndef HOSTCUDA_TESTS_FINDINGS_LIBRARY_BUGS_H
#define HOSTCUDA_TESTS_FINDINGS_LIBRARY_BUGS_H

#include <thrust/device_vector.h>

#include <algorithm>
#include <cub/cub.cuh>

#include "hostcuda/launch.h"
#include "seeded.h"

namespace seeded {

// Only the library writes the array, as cuBLAS writes its result. The tracer does not see these
// writes.
__global__ void double_all(const int* from, int* to) { to[threadIdx.x] = 2 * from[threadIdx.x]; }
SEEDED(read_before_the_library_wrote, "uninitialised") {
  const Buffer<int> written(kThreads, false), out(kThreads);
  int* const data = written.data;
  if (!wrong) hostcuda::enqueue_work(nullptr, [data] { std::fill_n(data, kThreads, 1); });
  // BUG read_before_the_library_wrote
  double_all<<<1, kThreads>>>(data, out.data);
  out.get();
}

// The finding gives the line of the vector, although Thrust's functions allocate the memory.
__global__ void write_numbers(int* data) { data[threadIdx.x] = static_cast<int>(threadIdx.x); }
SEEDED(vector_too_short, "out of bounds") {
  // BUG vector_too_short
  thrust::device_vector<int> numbers(wrong ? kThreads - 1 : kThreads);
  write_numbers<<<1, kThreads>>>(thrust::raw_pointer_cast(numbers.data()));
  std::vector<int> host(numbers.size());
  thrust::copy(numbers.begin(), numbers.end(), host.begin());
}

// The launch is at the line of the call, although a header of CUB makes it.
SEEDED(scratch_of_two_streams, "unordered operations") {
  const Buffer<int> in(kThreads), sums(2);
  const Stream first(cudaStreamNonBlocking), second(cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  std::size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, in.data, sums.data, kThreads, first);
  const Buffer<char> scratch(bytes, false);
  cub::DeviceReduce::Sum(scratch.data, bytes, in.data, sums.data, kThreads, first);
  // BUG scratch_of_two_streams
  cub::DeviceReduce::Sum(scratch.data, bytes, in.data, sums.data + 1, kThreads,
                         wrong ? second : first);
  cudaDeviceSynchronize();
  sums.get();
}

// The finding gives the line of the call, although a header makes the access.
__global__ void paint(cudaSurfaceObject_t surface, int width) {
  // BUG painted_past_the_edge
  for (int x = 0; x < width; ++x) surf2Dwrite(x, surface, x * static_cast<int>(sizeof(int)), 0);
}
SEEDED(painted_past_the_edge, "out of bounds") {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  cudaMallocArray(&resource.res.array.array, &format, 4, 4, cudaArraySurfaceLoadStore);
  cudaSurfaceObject_t surface;
  cudaCreateSurfaceObject(&surface, &resource);
  paint<<<1, 1>>>(surface, wrong ? 5 : 4);
  if (cudaDeviceSynchronize() != cudaSuccess) return;
  cudaDestroySurfaceObject(surface);
  cudaFreeArray(resource.res.array.array);
}

}  // namespace seeded

#endif
