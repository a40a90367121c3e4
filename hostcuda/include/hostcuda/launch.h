// hostcuda: what a kernel launch and a __shared__ variable are rewritten to.
//
//   k<T><<<grid, block, bytes, stream>>>(x)
//   launch([=](const auto&... a) { k<T>(a...); },       how one emulated thread runs the kernel
//          [=](auto tag) { exact<decltype(tag)>(k<T>)   the function itself, or Deduced{} where
//          only
//                          or Deduced{} },              the arguments tell which function it is
//          Site{"k<T>", file, line}, grid, block, bytes, stream)(x)
//
//   __shared__ float4 tile[N];
//   static thread_local float4 tile[N];  + SharedVariable registration, once per block
//
//   extern __shared__ float4 tile[];
//   auto* const tile = dynamic_shared<float4>();
#ifndef HOSTCUDA_LAUNCH_H
#define HOSTCUDA_LAUNCH_H

#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "runtime_api.h"
#include "types.h"

namespace hostcuda {

// The place of a launch in the source, for messages.
struct Site {
  const char* kernel;
  const char* file;
  int line;
};

// function: the kernel's address, or null where it is not known before the arguments are.
struct LaunchRequest {
  Site site;
  const void* function;
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared_bytes;
  cudaStream_t stream;
};

// Checks the configuration as a GPU does and appends the grid to the stream; errors are left for
// cudaGetLastError. body runs the kernel for the one emulated thread that threadIdx names.
void enqueue_kernel(const LaunchRequest& request, std::function<void()> body);

// For libraries emulated on top of hostcuda: appends work to the stream. When it runs it may read
// and write the memory of every device; nothing else about it is checked.
cudaError_t enqueue_work(cudaStream_t stream, std::function<void()> work);

struct Deduced {};

// Only a name of exactly one function converts; Tag makes the call dependent, so that an overloaded
// name makes the `requires` false instead of being an error.
template <class Tag, class Result, class... Parameters>
constexpr auto exact(Result (*function)(Parameters...)) {
  return function;
}

// Arguments are evaluated, converted to the parameter types and copied when the launch statement
// runs, as on a GPU: the kernel may run much later.
template <class Call, class... Arguments>
void enqueue_call(const LaunchRequest& request, const Call& call, Arguments... arguments) {
  enqueue_kernel(request, [call, stored = std::tuple<Arguments...>(arguments...)] {
    std::apply(call, stored);
  });
}

template <class Call>
struct DeducedLauncher {
  Call call;
  LaunchRequest request;

  template <class... Arguments>
  void operator()(Arguments... arguments) const {
    static_assert(std::is_invocable_v<const Call&, const Arguments&...>,
                  "kernel launch: the arguments do not match the kernel's parameters");
    enqueue_call<Call, Arguments...>(request, call, arguments...);
  }
};

template <class Call, class... Parameters>
struct ExactLauncher {
  Call call;
  LaunchRequest request;

  void operator()(Parameters... parameters) const {
    enqueue_call<Call, Parameters...>(request, call, parameters...);
  }
  // Fewer arguments than parameters: the kernel has default arguments.
  template <class... Arguments>
  requires(sizeof...(Arguments) < sizeof...(Parameters)) void operator()(
      Arguments&&... arguments) const {
    enqueue_first(std::index_sequence_for<Arguments...>{}, std::forward<Arguments>(arguments)...);
  }

 private:
  template <std::size_t... kIndex, class... Arguments>
  void enqueue_first(std::index_sequence<kIndex...>, Arguments&&... arguments) const {
    using All = std::tuple<Parameters...>;
    static_assert(std::is_invocable_v<const Call&, const std::tuple_element_t<kIndex, All>&...>,
                  "kernel launch: fewer arguments than the kernel's parameters");
    enqueue_call<Call, std::tuple_element_t<kIndex, All>...>(request, call,
                                                             std::forward<Arguments>(arguments)...);
  }
};

template <class Call>
DeducedLauncher<Call> make_launcher(const Call& call, Deduced, const LaunchRequest& request) {
  return {call, request};
}

template <class Call, class... Parameters>
ExactLauncher<Call, Parameters...> make_launcher(const Call& call, void (*function)(Parameters...),
                                                 LaunchRequest request) {
  request.function = reinterpret_cast<const void*>(function);
  return {call, request};
}

template <class Call, class Resolve>
auto launch(const Call& call, const Resolve& resolve, Site site, dim3 grid, dim3 block,
            std::size_t dynamic_shared_bytes = 0, cudaStream_t stream = nullptr) {
  return make_launcher(call, resolve(0),
                       LaunchRequest{site, nullptr, grid, block, dynamic_shared_bytes, stream});
}

// Changes with every block that this operating-system thread runs.
extern __thread unsigned block_sequence;

// First use of a shared variable in a block: poison it and count its size.
void begin_shared_variable(void* address, std::size_t size, const char* name);

// Called by each emulated thread at the declaration; there is one `seen` per variable.
template <class Variable>
inline __attribute__((always_inline)) void register_shared(unsigned& seen, Variable& variable,
                                                           const char* name) {
  if (seen != block_sequence) [[unlikely]] {
    seen = block_sequence;
    begin_shared_variable(const_cast<void*>(static_cast<const volatile void*>(&variable)),
                          sizeof variable, name);
  }
}

void* dynamic_shared_memory();

template <class Element>
inline Element* dynamic_shared() {
  return static_cast<Element*>(dynamic_shared_memory());
}

}  // namespace hostcuda

#endif
