// hostcuda: execution policies, which decide where an algorithm of Thrust runs.
//
// An algorithm on the device is one launch, with one thread per element or a single thread. The
// launch runs in stream order, its accesses are checked as in a kernel, and its functor must obey
// the rules for kernel code.
#pragma once

#include <memory>
#include <new>

#include "detail/iterator.h"
#include "system_error.h"

namespace thrust {
namespace detail {

struct host_policy {};

struct device_policy {
  cudaStream_t stream = nullptr;
  bool waits = true;  // a call returns only when the algorithm has finished

  device_policy on(cudaStream_t s) const { return {s, waits}; }
  template <class Allocator>
  device_policy operator()(Allocator&&) const {
    return *this;
  }
};

template <class T>
inline constexpr bool is_policy =
    std::is_same_v<std::decay_t<T>, host_policy> || std::is_same_v<std::decay_t<T>, device_policy>;

template <class Each>
__global__ void thread_each(Each each, std::ptrdiff_t count) {
  const std::ptrdiff_t i = std::ptrdiff_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) each(i);
}
template <class Work>
__global__ void one_thread(Work work) {
  work();
}

template <class... Parameters>
void launch(const device_policy& policy, const char* name, std::ptrdiff_t blocks, unsigned threads,
            void (*kernel)(Parameters...), const Parameters&... parameters) {
  const hostcuda::LaunchRequest request{{name, __FILE__, __LINE__},
                                        reinterpret_cast<const void*>(kernel),
                                        dim3(static_cast<unsigned>(blocks)),
                                        dim3(threads),
                                        0,
                                        policy.stream};
  throw_on_error(hostcuda::enqueue_function<Parameters...>(
                     request, kernel, {hostcuda::Argument<Parameters>(parameters)...}),
                 name);
  if (policy.waits) throw_on_error(cudaStreamSynchronize(policy.stream), name);
}

// Calls each(i) for all i from 0 to count - 1, in any order.
template <class Each>
void in_parallel(const host_policy&, const char*, std::ptrdiff_t count, Each each) {
  for (std::ptrdiff_t i = 0; i < count; ++i) each(i);
}
template <class Each>
void in_parallel(const device_policy& policy, const char* name, std::ptrdiff_t count, Each each) {
  constexpr int kThreads = 256;
  if (hostcuda::in_kernel())
    in_parallel(host_policy{}, name, count, each);
  else if (count > 0)
    launch(policy, name, (count + kThreads - 1) / kThreads, kThreads, thread_each<Each>, each,
           count);
}

// Device memory that is freed when the algorithm ends.
template <class T>
class temporary {
 public:
  explicit temporary(std::ptrdiff_t count)
      : address_(static_cast<T*>(
            allocated(static_cast<std::size_t>(count) * sizeof(T), "temporary memory"))) {}
  ~temporary() { cudaFree(address_); }
  temporary(const temporary&) = delete;
  temporary& operator=(const temporary&) = delete;
  T* get() const { return address_; }

 private:
  T* address_;
};

// Calls work(memory), where `memory` has room for `count` values; inside a kernel, `memory` is
// null.
template <class T, class Work>
void with_scratch(const host_policy&, std::ptrdiff_t count, const Work& work) {
  if (hostcuda::in_kernel()) return work(static_cast<T*>(nullptr));
  const std::unique_ptr<unsigned char[]> memory(
      new unsigned char[static_cast<std::size_t>(count) * sizeof(T)]);
  work(reinterpret_cast<T*>(memory.get()));
}
template <class T, class Work>
void with_scratch(const device_policy& policy, std::ptrdiff_t count, const Work& work) {
  if (hostcuda::in_kernel()) return work(static_cast<T*>(nullptr));
  const temporary<T> memory(count);
  work(memory.get());
  throw_on_error(cudaStreamSynchronize(policy.stream), "temporary memory");
}

// Runs work() once and returns its result, if it has one.
template <class Work>
auto in_sequence(const host_policy&, const char*, Work work) {
  return work();
}
template <class Work>
auto in_sequence(const device_policy& policy, const char* name, Work work) {
  using Result = decltype(work());
  if (hostcuda::in_kernel()) return work();
  if constexpr (std::is_void_v<Result>) {
    launch(policy, name, 1, 1, one_thread<Work>, work);
  } else {
    const temporary<Result> result(1);
    const auto leave_result = [address = result.get(), work]() mutable {
      ::new (static_cast<void*>(address)) Result(work());
    };
    launch(policy, name, 1, 1, one_thread<std::decay_t<decltype(leave_result)>>, leave_result);
    alignas(Result) unsigned char bytes[sizeof(Result)];
    throw_on_error(
        cudaMemcpyAsync(bytes, result.get(), sizeof(Result), cudaMemcpyDeviceToHost, policy.stream),
        name);
    throw_on_error(cudaStreamSynchronize(policy.stream), name);
    return *reinterpret_cast<Result*>(bytes);
  }
}

// The default policy: the algorithm runs on the device if an iterator refers to device memory.
template <class... Arguments>
constexpr auto policy_for() {
  if constexpr (on_device<Arguments...>)
    return device_policy{};
  else
    return host_policy{};
}

}  // namespace detail

inline constexpr detail::host_policy host{}, seq{};
inline constexpr detail::device_policy device{};
namespace cuda {
inline constexpr detail::device_policy par{}, par_nosync{nullptr, false};
}
namespace system {
namespace cuda = thrust::cuda;
}

// Defines thrust::name with and without a policy. Both versions call detail::name, which needs a
// policy. The arguments are values, so that arrays become pointers.
#define HOSTCUDA_THRUST_ALGORITHM(name)                                          \
  template <class First, class... Rest>                                          \
  auto name(First first, Rest... rest) {                                         \
    if constexpr (detail::is_policy<First>)                                      \
      return detail::name(first, rest...);                                       \
    else                                                                         \
      return detail::name(detail::policy_for<First, Rest...>(), first, rest...); \
  }

}  // namespace thrust
