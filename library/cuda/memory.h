// The device memory and the stream that each call into the library uses. Include this header first.
//
// The steps' files allocate with cudaMalloc, which waits for the device. This header redefines
// cudaMalloc and cudaFree for these files: they take memory from a pool, in the order of the stream
// that the calling thread's call uses.
#pragma once

#ifdef CUDA_CHECK
#error "nbody/cuda.h comes before library/cuda/memory.h, so its arrays would call cudaMalloc"
#endif

#include <cuda_runtime.h>

#include <cstddef>
// Included before the redefinition, because these headers may call cudaMalloc themselves.
#include <cub/block/block_reduce.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

namespace nbody::library {

cudaError_t take_memory(void** memory, std::size_t bytes);
cudaError_t return_memory(void* memory);

// The stream and the memory of this thread's call, until the object is destroyed. An allocation
// takes the host a microsecond, as long as a small kernel. So if an earlier call has shown how many
// bytes this call takes, all its arrays are parts of one allocation.
class InCall {
 public:
  explicit InCall(cudaStream_t stream, std::size_t expected_bytes = 0);
  ~InCall();
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;
  std::size_t taken_bytes() const { return taken_; }

 private:
  friend cudaError_t take_memory(void** memory, std::size_t bytes);
  friend cudaError_t return_memory(void* memory);
  bool holds(const void* memory) const { return block_ <= memory && memory < block_ + size_; }

  InCall* before_;
  cudaStream_t stream_;
  char* block_ = nullptr;
  std::size_t size_ = 0, taken_ = 0;
};

}  // namespace nbody::library

#define cudaMalloc(memory, bytes) \
  ::nbody::library::take_memory(reinterpret_cast<void**>(memory), bytes)
#define cudaFree ::nbody::library::return_memory
#include "nbody/cub.h"
#include "nbody/cuda.h"
