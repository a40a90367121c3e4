// hostcuda: CUB's device-wide functions. Each function is one launch in the stream and uses
// temporary memory that the caller provides.
#pragma once

#include "../../thrust/execution_policy.h"
#include "../thread_operators.cuh"

namespace cub {
namespace detail {

using thrust::detail::raw;
using thrust::detail::raw_t;
using thrust::detail::value_t;

template <class Work>
cudaError_t launch_one_thread(const char* name, cudaStream_t stream, const Work& work) {
  const hostcuda::LaunchRequest request{{name, __FILE__, __LINE__}, nullptr, 1, 1, 0, stream};
  const auto running = [to_do = work]() mutable { to_do(); };
  using Passed = std::remove_const_t<decltype(running)>;
  return hostcuda::enqueue_function<Passed>(request, thrust::detail::one_thread<Passed>,
                                            {hostcuda::Argument<Passed>(running)});
}

// If `temporary` is null, only stores in `bytes` how much memory the caller must provide. Otherwise
// launches work() once.
template <class Work>
cudaError_t device_call(const char* name, void* temporary, std::size_t& bytes, std::size_t needed,
                        cudaStream_t stream, const Work& work) {
  if (!temporary) {
    bytes = needed;
    return cudaSuccess;
  }
  if (bytes < needed) return cudaErrorInvalidValue;
  // A GPU uses the temporary memory. The emulator only touches this memory, to check that it is
  // device memory.
  return launch_one_thread(name, stream, [temporary, to_do = work]() mutable {
    *static_cast<char*>(temporary) = 0;
    to_do();
  });
}
// The size reported by functions that need temporary memory on a GPU, but not here.
constexpr std::size_t kSomeBytes = 256;

}  // namespace detail
}  // namespace cub
