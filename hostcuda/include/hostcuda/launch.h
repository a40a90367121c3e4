// hostcuda: what a kernel launch and a __shared__ variable are rewritten to.
//
//   k<T><<<grid, block, bytes, stream>>>(x)
//   launch([=](const auto&... a) { k<T>(a...); },     how one emulated thread runs the kernel
//          [=](auto tag) -> decltype(exact<decltype(tag)>(k<T>)) { ... },   the function itself,
//                                                     where the name alone tells which it is
//          Site{"k<T>", file, line}, grid, block, bytes, stream)(x)
//
//   __shared__ float4 tile[N];
//   static thread_local float4 tile[N];  + SharedVariable registration, once per block
//
//   extern __shared__ float4 tile[];
//   auto* const tile = dynamic_shared<float4>();
//
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "runtime_api.h"
#include "types.h"

namespace hostcuda {

// The source location of a launch, for messages.
struct Site {
  const char* kernel;
  const char* file;
  int line;
};

// function: the kernel's address, or null if it is unknown before the arguments are.
struct LaunchRequest {
  Site site;
  const void* function;
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared_bytes;
  cudaStream_t stream;
  dim3 cluster{1, 1, 1};
  bool cooperative = false;
};

// Replaces std::function, whose header would be a sixth of the input of a small .cu file.
struct Work {
  virtual ~Work() = default;
  virtual void run() const = 0;
};
template <class Function>
Work* work_of(const Function& function) {
  struct Stored final : Work {
    explicit Stored(const Function& stored) : function(stored) {}
    void run() const override { function(); }
    Function function;
  };
  return new Stored(function);
}

// Checks the configuration as a GPU does and appends the grid to the stream; errors also go to
// cudaGetLastError. `body` runs the kernel for the emulated thread that threadIdx names, and is
// deleted when nothing can run it any more.
cudaError_t enqueue_kernel(const LaunchRequest& request, Work* body);

// Notifies an observing tool that the next call's result is ignored.
void ignore_result();

// For libraries emulated on top of hostcuda: appends work to the stream. The work may access the
// memory of every device; nothing else about it is checked.
cudaError_t enqueue_work(cudaStream_t stream, Work* work);
template <class Function>
cudaError_t enqueue_work(cudaStream_t stream, const Function& work) {
  return enqueue_work(stream, work_of(work));
}

// Only the name of exactly one function converts. Tag makes the call dependent, so an overloaded
// name is a substitution failure, not an error.
template <class Tag, class Result, class... Parameters>
constexpr auto exact(Result (*function)(Parameters...)) {
  return function;
}

// A class with its own copy constructor or destructor. A GPU copies the bytes of such an argument
// to its threads and calls neither. Here the kernel gets a pointer to a copy of the bytes, because
// that is how the platform's calling convention passes such a class.
template <class Parameter>
constexpr bool kPassedAsBytes = !(std::is_trivially_copy_constructible_v<Parameter> &&
                                  std::is_trivially_destructible_v<Parameter>);

// One argument, as the stream stores it until the kernel runs.
template <class Parameter, bool = kPassedAsBytes<Parameter>>
class Argument {
 public:
  using Passed = Parameter;
  explicit Argument(const Parameter& value) : value_(value) {}
  const Parameter& get() const { return value_; }

 private:
  Parameter value_;
};

template <class Parameter>
class Argument<Parameter, true> {
 public:
  struct Bytes {
    alignas(Parameter) unsigned char bytes[sizeof(Parameter)];
  };
  using Passed = Bytes*;
  explicit Argument(const Parameter& value) {
    __builtin_memcpy(bytes_.bytes, __builtin_addressof(value), sizeof value);
  }
  // One copy per thread: a thread must not see what another writes to its parameter.
  struct Copy {
    Bytes bytes;
    operator Bytes*() { return &bytes; }
  };
  Copy get() const { return {bytes_}; }

 private:
  Bytes bytes_;
};

// Reports host code that passes the address of a __device__ variable.
void check_pointer_argument(const Site& site, const volatile void* pointer);
template <class Parameter>
void check_argument(const Site& site, const Parameter& value) {
  if constexpr (std::is_pointer_v<Parameter>) {
    if constexpr (!std::is_function_v<std::remove_pointer_t<Parameter>>)
      check_pointer_argument(site, value);
  }
}

// Location of the running kernel's arguments, known in traced programs.
struct KernelArguments {
  const void* begin = nullptr;
  std::size_t size = 0;
};
extern __thread KernelArguments kernel_arguments;
#ifdef HOSTCUDA_TRACE
#define HOSTCUDA_TELL_ARGUMENTS(first, last)                                      \
  ::hostcuda::kernel_arguments = {                                                \
      &first, static_cast<std::size_t>(reinterpret_cast<const char*>(&last + 1) - \
                                       reinterpret_cast<const char*>(&first))}
#else
#define HOSTCUDA_TELL_ARGUMENTS(first, last) static_cast<void>(0)
#endif

// Arguments are evaluated, converted to the parameter types and copied when the launch statement
// runs, as on a GPU: the kernel may run much later.
template <class... Parameters>
cudaError_t enqueue_function(const LaunchRequest& request, void (*kernel)(Parameters...),
                             const std::tuple<Argument<Parameters>...>& arguments) {
  using Function = void (*)(typename Argument<Parameters>::Passed...);
  const auto function = reinterpret_cast<Function>(reinterpret_cast<void*>(kernel));
  std::apply([&](const auto&... each) { (check_argument(request.site, each.get()), ...); },
             arguments);
  return enqueue_kernel(request, work_of([function, stored = arguments] {
                          HOSTCUDA_TELL_ARGUMENTS(function, stored);
                          std::apply([&](const auto&... each) { function(each.get()...); }, stored);
                        }));
}

template <class Call, class... Arguments>
void enqueue_call(const LaunchRequest& request, const Call& call, const Arguments&... arguments) {
  (check_argument(request.site, arguments), ...);
  enqueue_kernel(request, work_of([call, stored = std::tuple<Argument<Arguments, false>...>(
                                             Argument<Arguments, false>(arguments)...)] {
                   HOSTCUDA_TELL_ARGUMENTS(call, stored);
                   std::apply([&](const auto&... each) { call(each.get()...); }, stored);
                 }));
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
  static_assert(
      !(std::is_reference_v<Parameters> || ...),
      "kernel launch: a kernel's parameter is a reference, which would be the address of a "
      "variable of the host; kernels take their parameters by value");
  Call call;
  LaunchRequest request;

  void operator()(Parameters... parameters) const {
    if constexpr ((kPassedAsBytes<Parameters> || ...)) {
      const auto kernel =
          reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(request.function));
      enqueue_function<Parameters...>(request, kernel, {Argument<Parameters>(parameters)...});
    } else {
      enqueue_call<Call, Parameters...>(request, call, parameters...);
    }
  }
  // Fewer arguments than parameters: the kernel has default arguments.
  template <class... Arguments>
  std::enable_if_t<(sizeof...(Arguments) < sizeof...(Parameters))> operator()(
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

template <class Call, class... Parameters>
ExactLauncher<Call, Parameters...> make_launcher(const Call& call, void (*function)(Parameters...),
                                                 LaunchRequest request) {
  request.function = reinterpret_cast<const void*>(function);
  return {call, request};
}

template <class Call, class Resolve>
auto launch(const Call& call, const Resolve& resolve, Site site, dim3 grid, dim3 block,
            std::size_t dynamic_shared_bytes = 0, cudaStream_t stream = nullptr) {
  const LaunchRequest request{site, nullptr, grid, block, dynamic_shared_bytes, stream};
  if constexpr (std::is_invocable_v<const Resolve&, int>)
    return make_launcher(call, resolve(0), request);
  else
    return DeducedLauncher<Call>{call, request};
}

// Changes with every block that this operating-system thread starts.
extern __thread unsigned block_sequence;

// First use of a shared variable in a block: poison it and count its size.
void begin_shared_variable(void* address, std::size_t size, const char* name);

// Called by each emulated thread at the declaration; there is one `seen` per variable.
template <class Variable>
inline __attribute__((always_inline)) void register_shared(unsigned& seen, Variable& variable,
                                                           const char* name) {
  if (__builtin_expect(seen != block_sequence, 0)) {
    seen = block_sequence;
    begin_shared_variable(const_cast<void*>(static_cast<const volatile void*>(&variable)),
                          sizeof variable, name);
  }
}

// A __shared__ variable at file scope is reset for every block. Its size is not counted, because it
// is not known which kernels use it.
class SharedAtFileScope {
 public:
  SharedAtFileScope(void* (*address)(), std::size_t size, const char* name);
};

// A __device__ or __constant__ variable, after which the launcher inserts this: host code may pass
// it to the symbol functions, and do nothing else with it.
class DeviceVariable {
 public:
  DeviceVariable(const volatile void* address, std::size_t size, const char* name);
};

void* dynamic_shared_memory();

template <class Element>
inline Element* dynamic_shared() {
  return static_cast<Element*>(dynamic_shared_memory());
}

// `extern __shared__ Element name[];` at file scope: stands for the array of the running block.
template <class Element>
struct DynamicShared {
  operator Element*() const { return dynamic_shared<Element>(); }
  template <class Other, class = std::enable_if_t<!std::is_same_v<Other, Element>>>
  explicit operator Other*() const {
    return static_cast<Other*>(dynamic_shared_memory());
  }
  Element& operator[](std::size_t i) const { return dynamic_shared<Element>()[i]; }
};

// Ends the process if the block is larger than the kernel's __launch_bounds__ allow.
void refuse_launch_bounds(unsigned allowed);
inline void check_launch_bounds(unsigned allowed) {
  if (__builtin_expect(blockDim.x * blockDim.y * blockDim.z > allowed, 0))
    refuse_launch_bounds(allowed);
}

// The first statement of a kernel with __cluster_dims__: its grid runs in these clusters.
void require_cluster(dim3 cluster);
inline void check_cluster_dims(unsigned x, unsigned y = 1, unsigned z = 1) {
  require_cluster(dim3(x, y, z));
}

}  // namespace hostcuda
