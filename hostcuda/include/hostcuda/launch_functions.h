// hostcuda: launches by a function call: cooperative grids, clusters, and other attributes.
//
// The launcher writes name_kernel(k, "k") for the kernel k that such a call names: messages can
// then name it, and its parameters are known even where the program casts it to void*.
#pragma once

#include "launch.h"

enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeAccessPolicyWindow = 1,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeSynchronizationPolicy = 3,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributePriority = 8
};
enum cudaClusterSchedulingPolicy {
  cudaClusterSchedulingPolicyDefault,
  cudaClusterSchedulingPolicySpread,
  cudaClusterSchedulingPolicyLoadBalancing
};
union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative;
  struct {
    unsigned x, y, z;
  } clusterDim;
  cudaClusterSchedulingPolicy clusterSchedulingPolicyPreference;
  int programmaticStreamSerializationAllowed;
  int priority;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

namespace hostcuda {

template <class... Parameters>
struct NamedKernel {
  void (*function)(Parameters...);
  Site site;
};

template <class... Parameters>
NamedKernel<Parameters...> name_kernel(void (*function)(Parameters...), const char* name,
                                       HOSTCUDA_HERE) {
  return {function, Site{name, file, line}};
}
// A pointer of unknown type.
inline const void* name_kernel(const void* function, const char*) { return function; }

// Applies the attributes; hints have no effect. An unknown attribute is an error.
cudaError_t apply_attributes(LaunchRequest& request, const cudaLaunchConfig_t& config);
cudaError_t max_active_clusters(int* clusters, const LaunchRequest& request);

template <class... Parameters>
LaunchRequest request_for(const NamedKernel<Parameters...>& kernel, dim3 grid, dim3 block,
                          std::size_t bytes, cudaStream_t stream) {
  return {kernel.site, reinterpret_cast<const void*>(kernel.function), grid, block, bytes, stream};
}

template <class... Parameters, std::size_t... kIndex>
cudaError_t launch_with_pointers(const LaunchRequest& request, void (*function)(Parameters...),
                                 void** arguments, std::index_sequence<kIndex...>) {
  (void)arguments;  // for a kernel without parameters
  return enqueue_function<Parameters...>(
      request, function, {Argument<Parameters>(*static_cast<Parameters*>(arguments[kIndex]))...});
}

// Kernels that a program casts to void*. Their address is the key to the function that calls them.
using ErasedLaunch = cudaError_t (*)(const LaunchRequest& request, void** arguments);
void register_kernel(const void* function, const char* name, ErasedLaunch launch);
cudaError_t launch_configured(const void* function, const cudaLaunchConfig_t& config,
                              void** arguments, const char* file, int line);

// The launcher writes erased(k, "k") for (void*)k.
template <class... Parameters>
void* erased(void (*function)(Parameters...), const char* name) {
  void* address = reinterpret_cast<void*>(function);
  register_kernel(address, name, [](const LaunchRequest& request, void** arguments) {
    const auto kernel =
        reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(request.function));
    return launch_with_pointers(request, kernel, arguments,
                                std::index_sequence_for<Parameters...>{});
  });
  return address;
}
template <class Anything>
void* erased(Anything&& anything, const char*) {
  return (void*)anything;  // whatever the program's own cast does
}

template <class... Parameters>
cudaError_t launch_configured(const NamedKernel<Parameters...>& kernel,
                              const cudaLaunchConfig_t& config, void** arguments,
                              const char* = nullptr, int = 0) {
  LaunchRequest request =
      request_for(kernel, config.gridDim, config.blockDim, config.dynamicSmemBytes, config.stream);
  if (const cudaError_t error = apply_attributes(request, config)) return error;
  return launch_with_pointers(request, kernel.function, arguments,
                              std::index_sequence_for<Parameters...>{});
}

}  // namespace hostcuda

// Kernel: a NamedKernel, or a pointer if the kernel is known only by its address.
template <class Kernel>
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const Kernel& kernel,
                                void** arguments, HOSTCUDA_HERE) {
  return hostcuda::launch_configured(kernel, *config, arguments, file, line);
}
template <class Kernel>
cudaError_t cudaLaunchKernel(const Kernel& kernel, dim3 grid, dim3 block, void** arguments,
                             std::size_t dynamic_shared_bytes = 0, cudaStream_t stream = nullptr,
                             HOSTCUDA_HERE) {
  const cudaLaunchConfig_t config{grid, block, dynamic_shared_bytes, stream, nullptr, 0};
  return cudaLaunchKernelExC(&config, kernel, arguments, file, line);
}
template <class Kernel>
cudaError_t cudaLaunchCooperativeKernel(const Kernel& kernel, dim3 grid, dim3 block,
                                        void** arguments, std::size_t dynamic_shared_bytes = 0,
                                        cudaStream_t stream = nullptr, HOSTCUDA_HERE) {
  cudaLaunchAttribute cooperative{cudaLaunchAttributeCooperative, {}};
  cooperative.val.cooperative = 1;
  const cudaLaunchConfig_t config{grid, block, dynamic_shared_bytes, stream, &cooperative, 1};
  return cudaLaunchKernelExC(&config, kernel, arguments, file, line);
}
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config,
                               const hostcuda::NamedKernel<Parameters...>& kernel,
                               Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "cudaLaunchKernelEx: as many arguments as the kernel has parameters");
  std::tuple<Parameters...> converted(std::forward<Arguments>(arguments)...);
  return std::apply(
      [&](Parameters&... each) {
        void* pointers[] = {&each..., nullptr};
        return hostcuda::launch_configured(kernel, *config, pointers);
      },
      converted);
}
template <class... Parameters>
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters,
                                           const hostcuda::NamedKernel<Parameters...>& kernel,
                                           const cudaLaunchConfig_t* config) {
  hostcuda::LaunchRequest request = hostcuda::request_for(kernel, config->gridDim, config->blockDim,
                                                          config->dynamicSmemBytes, config->stream);
  if (const cudaError_t error = hostcuda::apply_attributes(request, *config)) return error;
  return hostcuda::max_active_clusters(clusters, request);
}

// Programmatic launches: here a grid starts when the previous one in the stream is done. A GPU may
// start it earlier, but not later.
inline void cudaGridDependencySynchronize() {}
inline void cudaTriggerProgrammaticLaunchCompletion() {}
