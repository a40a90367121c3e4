// Memory and streams of calls. Include this header first.
//
// The steps' files allocate with cudaMalloc, which waits for the device. Here these names take
// memory from a pool, in the order of the stream of the calling thread's call.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
// These may call cudaMalloc themselves.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

namespace nbody::library {

cudaError_t take_memory(void** memory, std::size_t bytes);
cudaError_t return_memory(void* memory);

// The stream of this thread's call, until the object is destroyed.
class InStream {
 public:
  explicit InStream(cudaStream_t stream);
  ~InStream();
  InStream(const InStream&) = delete;
  InStream& operator=(const InStream&) = delete;

 private:
  cudaStream_t before_;
};

// While it exists, the default stream, in which the launches of a step's own functions are, runs
// after and before all other work of a stream.
class InDefaultStream {
 public:
  explicit InDefaultStream(cudaStream_t stream);
  ~InDefaultStream();

 private:
  cudaStream_t stream_;
  InStream here_;
};

}  // namespace nbody::library

#define cudaMalloc(memory, bytes) \
  ::nbody::library::take_memory(reinterpret_cast<void**>(memory), bytes)
#define cudaFree ::nbody::library::return_memory
#include "nbody/cub.h"
#include "nbody/cuda.h"
