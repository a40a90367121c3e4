// hostcuda: launches by a function call, for cooperative grids, clusters and other attributes.
//
// If a kernel k is an argument of such a call, the launcher replaces k by name_kernel(k, "k"). Then
// messages can contain the kernel's name, and the types of its parameters are known even after a
// cast to void*.
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
enum cudaAccessProperty {
  cudaAccessPropertyNormal,
  cudaAccessPropertyStreaming,
  cudaAccessPropertyPersisting
};
struct cudaAccessPolicyWindow {
  void* base_ptr;
  std::size_t num_bytes;
  float hitRatio;
  cudaAccessProperty hitProp, missProp;
};
enum cudaSynchronizationPolicy {
  cudaSyncPolicyAuto = 1,
  cudaSyncPolicySpin = 2,
  cudaSyncPolicyYield = 3,
  cudaSyncPolicyBlockingSync = 4
};
union cudaLaunchAttributeValue {
  char pad[64];
  cudaAccessPolicyWindow accessPolicyWindow;
  cudaSynchronizationPolicy syncPolicy;
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

// The attributes of a stream are hints about caches and waiting: they are checked and kept, but
// have no effect.
#define cudaStreamAttrID cudaLaunchAttributeID
#define cudaStreamAttrValue cudaLaunchAttributeValue
#define cudaStreamAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define cudaStreamAttributeSynchronizationPolicy cudaLaunchAttributeSynchronizationPolicy
#define cudaStreamAttributePriority cudaLaunchAttributePriority
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue* value);
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   cudaLaunchAttributeValue* value);
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from);

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
// Returns a pointer of unknown type unchanged.
inline const void* name_kernel(const void* function, const char*) { return function; }

// Applies the attributes in `config` to the request. Hints have no effect, and an unknown attribute
// is an error.
cudaError_t apply_attributes(LaunchRequest& request, const cudaLaunchConfig_t& config);
cudaError_t max_active_clusters(int* clusters, const LaunchRequest& request);

template <class... Parameters>
LaunchRequest request_for(const NamedKernel<Parameters...>& kernel, dim3 grid, dim3 block,
                          std::size_t bytes, cudaStream_t stream) {
  LaunchRequest request{
      kernel.site, reinterpret_cast<const void*>(kernel.function), grid, block, bytes, stream};
  request.launch_again = erased_launch<Parameters...>();
  return request;
}

// A program may cast a kernel to void*. A table then maps the kernel's address to the function that
// launches the kernel.
void register_kernel(const void* function, const char* name, ErasedLaunch launch);
cudaError_t launch_configured(const void* function, const cudaLaunchConfig_t& config,
                              void** arguments, const char* file, int line);

// The launcher replaces (void*)k and reinterpret_cast<void*>(k) by erased(k, "k").
template <class... Parameters>
void* erased(void (*function)(Parameters...), const char* name) {
  void* address = reinterpret_cast<void*>(function);
  register_kernel(address, name, erased_launch<Parameters...>());
  return address;
}
template <class Anything>
void* erased(Anything&& anything, const char*) {
  return (void*)anything;  // does what the program's own cast would do
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

// Kernel: a NamedKernel, or a pointer if only the kernel's address is known.
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
                "cudaLaunchKernelEx needs as many arguments as the kernel has parameters");
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

// Programmatic dependent launch: here a grid starts when the previous grid in its stream has ended.
// A GPU may start the grid earlier, but never later.
__device__ inline void cudaGridDependencySynchronize() {}
__device__ inline void cudaTriggerProgrammaticLaunchCompletion() {}
