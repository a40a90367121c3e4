// hostcuda: Thrust's exceptions for CUDA errors.
#pragma once

#include <string>
#include <system_error>

#include "../cuda_runtime.h"

namespace thrust {

using std::errc;
using std::error_code;
using std::system_error;

// For launcher/semantics.py: these functions override host code, so they cannot be device code.
#if defined __clang__ && defined __CUDA__
#pragma clang force_cuda_host_device end
#endif
class cuda_error_category : public std::error_category {
 public:
  const char* name() const noexcept override { return "cuda"; }
  std::string message(int error) const override {
    return cudaGetErrorString(static_cast<cudaError_t>(error));
  }
};
inline const std::error_category& cuda_category() {
  static const cuda_error_category category;
  return category;
}
#if defined __clang__ && defined __CUDA__
#pragma clang force_cuda_host_device begin
#endif

namespace system {
using std::system_error;
using thrust::cuda_category;
}  // namespace system

namespace detail {
inline void throw_on_error(cudaError_t error, const char* what) {
  if (error == cudaErrorMemoryAllocation) throw std::bad_alloc();
  if (error != cudaSuccess)
    throw system_error(static_cast<int>(error), cuda_category(), std::string("thrust: ") + what);
}
inline void* allocated(std::size_t bytes, const char* what) {
  void* memory = nullptr;
  throw_on_error(cudaMalloc(&memory, bytes), what);
  return memory;
}
}  // namespace detail

}  // namespace thrust
