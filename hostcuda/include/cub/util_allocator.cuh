// hostcuda: cub::CachingDeviceAllocator, which caches nothing here.
#pragma once

#include <cstddef>

#include "../cuda_runtime.h"

namespace cub {

struct CachingDeviceAllocator {
  template <class... Limits>
  explicit CachingDeviceAllocator(Limits...) {}
  cudaError_t DeviceAllocate(void** memory, std::size_t bytes, cudaStream_t = nullptr) {
    return cudaMalloc(memory, bytes);
  }
  cudaError_t DeviceFree(void* memory) { return cudaFree(memory); }
  cudaError_t FreeAllCached() { return cudaSuccess; }
};

}  // namespace cub
