// hostcuda: how the launcher rewrites a kernel launch and a __shared__ variable.
//
//   k<T><<<grid, block, bytes, stream>>>(x)
//   launch([=](const auto&... a) { k<T>(a...); },     runs the kernel as one emulated thread
//          [=](auto tag) -> decltype(exact<decltype(tag)>(k<T>)) { ... },   returns the function if
//                                                     its name is not overloaded
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
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "device_functions.h"
#include "launches/kernel_names.h"
#include "runtime_api.h"
#include "types.h"

namespace hostcuda {

// The source location of a launch, for messages.
struct Site {
  const char* kernel;
  const char* file;
  int line;
};

struct LaunchRequest;
// Launches request.function with other arguments; `arguments` has the addresses of their values.
using ErasedLaunch = cudaError_t (*)(const LaunchRequest& request, void** arguments);

// function: the kernel's address, or null if the kernel's name is overloaded. In that case,
// only the arguments of the launch decide which function is called.
struct LaunchRequest {
  Site site;
  const void* function;
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared_bytes;
  cudaStream_t stream;
  dim3 cluster{1, 1, 1};
  bool cooperative = false;
  ErasedLaunch launch_again = nullptr;  // null if the types of the parameters do not allow it
};

// Replaces std::function, because its header would be a sixth of the text that the compiler reads
// for a small .cu file.
struct Work {
  virtual ~Work() = default;
  // The memory of work is not that of `new` in kernels.
  static void* operator new(std::size_t size);
  static void operator delete(void* work);
  virtual void run() const = 0;
  // The addresses of a kernel's arguments.
  virtual std::size_t argument_count() const { return 0; }
  virtual void list_arguments(void**) const {}
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

// Checks the configuration as a GPU does and appends the grid to the stream. Errors are returned
// and also recorded for cudaGetLastError. `body` runs the kernel as the emulated thread that
// threadIdx identifies. `body` is deleted when nothing can run it again.
cudaError_t enqueue_kernel(const LaunchRequest& request, Work* body);

// Tells the tracer that the program ignores the next call's result.
void ignore_result();

// If a program ignores the status of a library call, the launcher puts this object before the call
// in traced programs: IgnoredStatus{"cublasSgemm", file, line} = cublasSgemm(...);
struct IgnoredStatus {
  const char* function;
  const char* file;
  int line;
  template <class Status>
  void operator=(const Status& status) const;
};
void status_was_ignored(const IgnoredStatus& call, int status);
template <class Status>
void IgnoredStatus::operator=(const Status& status) const {
  if (static_cast<int>(status)) status_was_ignored(*this, static_cast<int>(status));
}

// Appends work to the stream, for libraries that are emulated on top of hostcuda. The work may
// access every device's memory and is not checked.
cudaError_t enqueue_work(cudaStream_t stream, Work* work);
template <class Function>
cudaError_t enqueue_work(cudaStream_t stream, const Function& work) {
  return enqueue_work(stream, work_of(work));
}

// True for a class with its own copy constructor or destructor. A GPU copies the bytes of such an
// argument to its threads and calls neither the constructor nor the destructor. Here the kernel
// gets a pointer to a copy of the bytes, because the platform's calling convention passes such
// classes by address.
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
  const volatile void* address() const { return __builtin_addressof(value_); }

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
  // Every thread gets its own copy, because no thread may see another thread's writes to the
  // parameter.
  struct Copy {
    Bytes bytes;
    operator Bytes*() { return &bytes; }
  };
  Copy get() const { return {bytes_}; }
  const volatile void* address() const { return &bytes_; }

 private:
  Bytes bytes_;
};

// Reports host code that passes the address of a __device__ variable.
void check_pointer_argument(const Site& site, const volatile void* pointer);
// Reports host code that passes a reference to an ordinary host variable. A kernel may have
// references only to managed memory, pinned memory and device memory.
void check_reference_argument(const Site& site, const volatile void* object);
template <class Parameter, class Value>
void check_argument(const Site& site, const Value& value) {
  if constexpr (std::is_reference_v<Parameter>) {
    check_reference_argument(site, __builtin_addressof(value));
  } else if constexpr (std::is_pointer_v<Parameter>) {
    if constexpr (!std::is_function_v<std::remove_pointer_t<Parameter>>)
      check_pointer_argument(site, value);
  }
}

// The location of the running kernel's arguments; set only in traced programs.
struct KernelArguments {
  const void* begin = nullptr;
  std::size_t size = 0;
};
extern HOSTCUDA_OF_THREAD KernelArguments kernel_arguments;
#ifdef HOSTCUDA_TRACE
#define HOSTCUDA_TELL_ARGUMENTS(first, last)                                      \
  ::hostcuda::kernel_arguments = {                                                \
      &first, static_cast<std::size_t>(reinterpret_cast<const char*>(&last + 1) - \
                                       reinterpret_cast<const char*>(&first))}
#else
#define HOSTCUDA_TELL_ARGUMENTS(first, last) static_cast<void>(0)
#endif

// Runs a kernel with the arguments of its launch.
template <class Function, class... Stored>
struct KernelWork final : Work {
  KernelWork(const Function& kernel, const std::tuple<Stored...>& values)
      : function(kernel), arguments(values) {}
  void run() const override {
    HOSTCUDA_TELL_ARGUMENTS(function, arguments);
    std::apply([&](const auto&... each) { function(each.get()...); }, arguments);
  }
  std::size_t argument_count() const override { return sizeof...(Stored); }
  void list_arguments(void** to) const override {
    std::apply([&](const auto&... each) { ((*to++ = const_cast<void*>(each.address())), ...); },
               arguments);
    (void)to;  // unused if the kernel has no parameters
  }
  Function function;
  std::tuple<Stored...> arguments;
};
// Moves the bytes of `work` to the heap. Arguments and kernels may be moved byte by byte. The
// caller must not destroy the original.
Work* moved_work(const Work& work, std::size_t size);
template <class Function, class... Stored>
Work* kernel_work(const Function& function, const std::tuple<Stored...>& arguments) {
  using Made = KernelWork<Function, Stored...>;
  if (!in_kernel()) return new Made(function, arguments);
  // A kernel that launches a kernel may write only its own variables.
  alignas(Made) unsigned char own[sizeof(Made)];
  return moved_work(*::new (static_cast<void*>(own)) Made(function, arguments), sizeof(Made));
}

// The launch statement evaluates the arguments, converts them to the parameter types and copies
// them, as on a GPU, because the kernel may run much later.
template <class... Parameters>
cudaError_t enqueue_function(const LaunchRequest& request, void (*kernel)(Parameters...),
                             const std::tuple<Argument<Parameters>...>& arguments) {
  using Function = void (*)(typename Argument<Parameters>::Passed...);
  const auto function = reinterpret_cast<Function>(reinterpret_cast<void*>(kernel));
  std::apply(
      [&](const auto&... each) { (check_argument<Parameters>(request.site, each.get()), ...); },
      arguments);
  return enqueue_kernel(request, kernel_work(function, arguments));
}

template <class Call, class... Arguments>
void enqueue_call(const LaunchRequest& request, const Call& call, const Arguments&... arguments) {
  (check_argument<Arguments>(request.site, arguments), ...);
  const std::tuple<Argument<Arguments, false>...> stored{Argument<Arguments, false>(arguments)...};
  enqueue_kernel(request, kernel_work(call, stored));
}

template <class... Parameters, std::size_t... kIndex>
cudaError_t launch_with_pointers(const LaunchRequest& request, void (*function)(Parameters...),
                                 void** arguments, std::index_sequence<kIndex...>) {
  (void)arguments;  // unused if the kernel has no parameters
  return enqueue_function<Parameters...>(
      request, function, {Argument<Parameters>(*static_cast<Parameters*>(arguments[kIndex]))...});
}
// The function that launches kernels of this type with other arguments.
template <class... Parameters>
constexpr ErasedLaunch erased_launch() {
  if constexpr ((std::is_reference_v<Parameters> || ...)) {
    return nullptr;
  } else {
    return [](const LaunchRequest& request, void** arguments) {
      const auto kernel =
          reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(request.function));
      LaunchRequest again = request;
      again.launch_again = erased_launch<Parameters...>();
      return launch_with_pointers(again, kernel, arguments,
                                  std::index_sequence_for<Parameters...>{});
    };
  }
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

template <class Tag, class Call, class Resolve>
auto make_launcher(const Call& call, const Resolve& resolve, const LaunchRequest& request);

// Launches the function that resolve(Tag{}) returns. Only the function that is launched must be
// complete, so its address is not taken earlier.
template <class Call, class Resolve, class Tag, class... Parameters>
struct ExactLauncher {
  Call call;
  Resolve resolve;
  LaunchRequest request;

  void operator()(Parameters... parameters) const {
    void (*const kernel)(Parameters...) = resolve(Tag{});
    if constexpr (((kPassedAsBytes<Parameters> || std::is_reference_v<Parameters>) || ...))
      enqueue_function<Parameters...>(named(), kernel, {Argument<Parameters>(parameters)...});
    else
      enqueue_call<Call, Parameters...>(named(), call, parameters...);
  }
  // Launches another function of the same name, which the arguments select.
  template <class... Arguments,
            class Other = typename OtherFunction<Resolve, std::tuple<Parameters...>,
                                                 std::tuple<std::decay_t<Arguments>...>>::type>
  std::enable_if_t<!std::is_void_v<Other>> operator()(Arguments&&... arguments) const {
    make_launcher<Other>(call, resolve, request)
        .launch_exactly(std::forward<Arguments>(arguments)...);
  }
  void launch_exactly(Parameters... parameters) const { (*this)(parameters...); }
  // Launches a kernel that has default arguments: the call passes only the first arguments.
  template <class... Arguments>
  std::enable_if_t<(sizeof...(Arguments) < sizeof...(Parameters))> operator()(
      Arguments&&... arguments) const {
    enqueue_first(std::index_sequence_for<Arguments...>{}, std::forward<Arguments>(arguments)...);
  }

 private:
  LaunchRequest named() const {
    LaunchRequest with_name = request;
    with_name.function = reinterpret_cast<const void*>(resolve(Tag{}));
    with_name.launch_again = erased_launch<Parameters...>();
    return with_name;
  }
  template <std::size_t... kIndex, class... Arguments>
  void enqueue_first(std::index_sequence<kIndex...>, Arguments&&... arguments) const {
    using All = std::tuple<Parameters...>;
    static_assert(std::is_invocable_v<const Call&, const std::tuple_element_t<kIndex, All>&...>,
                  "kernel launch: fewer arguments than the kernel has parameters");
    enqueue_call<Call, std::tuple_element_t<kIndex, All>...>(named(), call,
                                                             std::forward<Arguments>(arguments)...);
  }
};

template <class Tag, class Call, class Resolve, class... Parameters>
ExactLauncher<Call, Resolve, Tag, Parameters...> launcher_of(const Call& call,
                                                             const Resolve& resolve,
                                                             const LaunchRequest& request,
                                                             void (*)(Parameters...)) {
  return {call, resolve, request};
}
template <class Tag, class Call, class Resolve>
auto make_launcher(const Call& call, const Resolve& resolve, const LaunchRequest& request) {
  using Function = decltype(resolve(Tag{}));
  return launcher_of<Tag>(call, resolve, request, static_cast<Function>(nullptr));
}

template <class Call, class Resolve>
auto launch(const Call& call, const Resolve& resolve, Site site, dim3 grid, dim3 block,
            std::size_t dynamic_shared_bytes = 0, cudaStream_t stream = nullptr) {
  const LaunchRequest request{site, nullptr, grid, block, dynamic_shared_bytes, stream};
  if constexpr (std::is_invocable_v<const Resolve&, int>)
    return make_launcher<int>(call, resolve, request);
  else
    return DeducedLauncher<Call>{call, request};
}

// Changes whenever this operating-system thread starts another block.
extern HOSTCUDA_OF_THREAD unsigned block_sequence;

// Called when a block first uses a shared variable: poisons the variable and adds its size to the
// block's total. Returns false if the block has already used the variable.
bool begin_shared_variable(void* address, std::size_t size, const char* name, bool counts = true);

// Every emulated thread that reaches the declaration calls this function. Each variable has its own
// `seen`.
template <class Variable>
inline __attribute__((always_inline)) void register_shared(unsigned& seen, Variable& variable,
                                                           const char* name) {
  if (__builtin_expect(seen != block_sequence, 0)) {
    seen = block_sequence;
    begin_shared_variable(const_cast<void*>(static_cast<const volatile void*>(&variable)),
                          sizeof variable, name);
  }
}

// Resets a __shared__ variable at file scope for every block. The variable's size is not counted,
// because it is unknown which kernels use the variable.
class SharedAtFileScope {
 public:
  SharedAtFileScope(void* (*address)(), std::size_t size, const char* name);
};

// The launcher inserts a DeviceVariable after each __device__ or __constant__ variable. Host code
// may pass the variable to the symbol functions and must not use it in any other way.
class DeviceVariable {
 public:
  // is_unset: the variable is a constant without an initialiser.
  DeviceVariable(const volatile void* address, std::size_t size, const char* name,
                 bool is_unset = false);
};

// The launcher inserts a ManagedVariable after each __managed__ variable, which is managed memory.
class ManagedVariable {
 public:
  ManagedVariable(const volatile void* address, std::size_t size, const char* name);
};

void* dynamic_shared_memory();

template <class Element>
inline Element* dynamic_shared() {
  return static_cast<Element*>(dynamic_shared_memory());
}

// Replaces `extern __shared__ Element name[];` at file scope: refers to the running block's array.
template <class Element>
struct DynamicShared {
  operator Element*() const { return dynamic_shared<Element>(); }
  template <class Other, class = std::enable_if_t<!std::is_same_v<Other, Element>>>
  explicit operator Other*() const {
    return static_cast<Other*>(dynamic_shared_memory());
  }
  Element& operator[](std::size_t i) const { return dynamic_shared<Element>()[i]; }
};

// The launch fails if its blocks have more threads than the kernel's __launch_bounds__ allow.
void refuse_launch_bounds(unsigned allowed);
inline void check_launch_bounds(unsigned allowed) {
  if (__builtin_expect(blockDim.x * blockDim.y * blockDim.z > allowed, 0))
    refuse_launch_bounds(allowed);
}

// The first statement of a kernel with __cluster_dims__ calls this function, so that the kernel's
// grid runs in clusters of that shape.
void require_cluster(dim3 cluster);
inline void check_cluster_dims(unsigned x, unsigned y = 1, unsigned z = 1) {
  require_cluster(dim3(x, y, z));
}

}  // namespace hostcuda
