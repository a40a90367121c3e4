#include "runtime/device.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "runtime/api.h"
#include "support/config.h"
#include "support/limits.h"

namespace hostcuda {
namespace {

thread_local int current = 0;

std::vector<std::set<int>>& peers() {
  static auto* list = new std::vector<std::set<int>>(static_cast<std::size_t>(config().devices));
  return *list;
}

struct Attribute {
  template <class Property>
  Attribute(cudaDeviceAttr attribute, Property property)
      : attribute(attribute), value(static_cast<int>(property)) {}
  cudaDeviceAttr attribute;
  int value;
};

std::set<int>& peers_of_current_device() { return peers()[static_cast<std::size_t>(current)]; }

}  // namespace

int current_device() {
  HOSTCUDA_IN_KERNEL(device());
  return current;
}

void set_current_device(int device) { current = device; }

bool valid_device(int device) { return device >= 0 && device < config().devices; }

const std::set<int>& peers_of(int device) { return peers()[static_cast<std::size_t>(device)]; }

}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaGetDeviceCount(int* count) {
  if (!count) return fail(cudaErrorInvalidValue);
  *count = config().devices;
  HOSTCUDA_API_CALL_ALSO_OF_KERNELS;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  HOSTCUDA_API_CALL;
  if (!valid_device(device)) return fail(cudaErrorInvalidDevice);
  current = device;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  HOSTCUDA_API_CALL_ALSO_OF_KERNELS;
  if (!device) return fail(cudaErrorInvalidValue);
  *device = current_device();
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  if (!version) return fail(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  HOSTCUDA_API_CALL_ALSO_OF_KERNELS;
  if (!properties) return fail(cudaErrorInvalidValue);
  if (!valid_device(device)) return fail(cudaErrorInvalidDevice);
  cudaDeviceProp& p = *properties;
  p = {};
  std::snprintf(p.name, sizeof p.name, "hostcuda CPU emulation");
  p.totalGlobalMem = config().memory;
  p.sharedMemPerBlock = limits::kSharedPerBlock;
  p.sharedMemPerBlockOptin = limits::kSharedPerBlockOptIn;
  p.sharedMemPerMultiprocessor = limits::kSharedPerMultiprocessor;
  p.reservedSharedMemPerBlock = limits::kSharedReservedPerBlock;
  p.totalConstMem = 64 << 10;
  p.regsPerBlock = p.regsPerMultiprocessor = 64 << 10;
  p.warpSize = warpSize;
  p.maxThreadsPerBlock = limits::kThreadsPerBlock;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = limits::kThreadsPerBlock;
  p.maxThreadsDim[2] = limits::kBlockZ;
  p.maxGridSize[0] = limits::kGridX;
  p.maxGridSize[1] = p.maxGridSize[2] = limits::kGridYZ;
  p.major = 9;
  p.multiProcessorCount = config().multiprocessors;
  p.maxThreadsPerMultiProcessor = limits::kThreadsPerMultiprocessor;
  p.maxBlocksPerMultiProcessor = limits::kBlocksPerMultiprocessor;
  p.streamPrioritiesSupported = 1;
  p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing = p.asyncEngineCount = 1;
  p.managedMemory = p.concurrentManagedAccess = p.deviceOverlap = 1;
  p.cooperativeLaunch = p.clusterLaunch = 1;
  p.memPitch = 0x7fffffff;
  p.textureAlignment = p.surfaceAlignment = 512;
  p.texturePitchAlignment = 32;
  p.hostRegisterSupported = p.memoryPoolsSupported = 1;
  p.maxTexture1D = 131072;
  p.maxTexture1DLinear = 268435456;
  p.maxTexture2D[0] = 131072;
  p.maxTexture2D[1] = 65536;
  std::fill_n(p.maxTexture3D, 3, 16384);
  p.maxTexture1DLayered[0] = p.maxTexture2DLayered[0] = p.maxTexture2DLayered[1] = 32768;
  p.maxTexture1DLayered[1] = p.maxTexture2DLayered[2] = 2048;
  p.maxSurface1D = 32768;
  p.maxSurface2D[0] = 131072;
  p.maxSurface2D[1] = 65536;
  std::fill_n(p.maxSurface3D, 3, 16384);
  p.pciBusID = device;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p;
  if (!value) return fail(cudaErrorInvalidValue);
  if (const cudaError_t error = cudaGetDeviceProperties(&p, device)) return error;
  const Attribute attributes[] = {
      {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
      {cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0]},
      {cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1]},
      {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
      {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
      {cudaDevAttrMaxGridDimY, p.maxGridSize[1]},
      {cudaDevAttrMaxGridDimZ, p.maxGridSize[2]},
      {cudaDevAttrMaxSharedMemoryPerBlock, p.sharedMemPerBlock},
      {cudaDevAttrTotalConstantMemory, p.totalConstMem},
      {cudaDevAttrWarpSize, p.warpSize},
      {cudaDevAttrMaxPitch, p.memPitch},
      {cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock},
      {cudaDevAttrClockRate, p.clockRate},
      {cudaDevAttrTextureAlignment, p.textureAlignment},
      {cudaDevAttrGpuOverlap, p.deviceOverlap},
      {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
      {cudaDevAttrKernelExecTimeout, p.kernelExecTimeoutEnabled},
      {cudaDevAttrIntegrated, p.integrated},
      {cudaDevAttrCanMapHostMemory, p.canMapHostMemory},
      {cudaDevAttrComputeMode, p.computeMode},
      {cudaDevAttrConcurrentKernels, p.concurrentKernels},
      {cudaDevAttrEccEnabled, p.ECCEnabled},
      {cudaDevAttrPciBusId, p.pciBusID},
      {cudaDevAttrPciDeviceId, p.pciDeviceID},
      {cudaDevAttrTccDriver, p.tccDriver},
      {cudaDevAttrMemoryClockRate, p.memoryClockRate},
      {cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth},
      {cudaDevAttrL2CacheSize, p.l2CacheSize},
      {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
      {cudaDevAttrAsyncEngineCount, p.asyncEngineCount},
      {cudaDevAttrUnifiedAddressing, p.unifiedAddressing},
      {cudaDevAttrPciDomainId, p.pciDomainID},
      {cudaDevAttrComputeCapabilityMajor, p.major},
      {cudaDevAttrComputeCapabilityMinor, p.minor},
      {cudaDevAttrStreamPrioritiesSupported, p.streamPrioritiesSupported},
      {cudaDevAttrGlobalL1CacheSupported, p.globalL1CacheSupported},
      {cudaDevAttrLocalL1CacheSupported, p.localL1CacheSupported},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, p.sharedMemPerMultiprocessor},
      {cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor},
      {cudaDevAttrManagedMemory, p.managedMemory},
      {cudaDevAttrIsMultiGpuBoard, p.isMultiGpuBoard},
      {cudaDevAttrHostNativeAtomicSupported, p.hostNativeAtomicSupported},
      {cudaDevAttrPageableMemoryAccess, p.pageableMemoryAccess},
      {cudaDevAttrConcurrentManagedAccess, p.concurrentManagedAccess},
      {cudaDevAttrComputePreemptionSupported, p.computePreemptionSupported},
      {cudaDevAttrCooperativeLaunch, p.cooperativeLaunch},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, p.sharedMemPerBlockOptin},
      {cudaDevAttrHostRegisterSupported, p.hostRegisterSupported},
      {cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor},
      {cudaDevAttrMaxPersistingL2CacheSize, p.persistingL2CacheMaxSize},
      {cudaDevAttrMaxAccessPolicyWindowSize, p.accessPolicyMaxWindowSize},
      {cudaDevAttrReservedSharedMemoryPerBlock, p.reservedSharedMemPerBlock},
      {cudaDevAttrMemoryPoolsSupported, p.memoryPoolsSupported},
      {cudaDevAttrMemoryPoolSupportedHandleTypes, cudaMemHandleTypePosixFileDescriptor},
      {cudaDevAttrClusterLaunch, p.clusterLaunch},
  };
  for (const auto& [known, of_device] : attributes)
    if (known == attribute) return *value = of_device, cudaSuccess;
  return fail(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  HOSTCUDA_API_CALL;
  if (least) *least = limits::kLeastPriority;
  if (greatest) *greatest = limits::kGreatestPriority;
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
  HOSTCUDA_API_CALL;
  if (!can_access) return fail(cudaErrorInvalidValue);
  if (!valid_device(device) || !valid_device(peer)) return fail(cudaErrorInvalidDevice);
  *can_access = device != peer;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device,
                                      int peer) {
  HOSTCUDA_API_CALL;
  if (!value) return fail(cudaErrorInvalidValue);
  if (!valid_device(device) || !valid_device(peer) || device == peer)
    return fail(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevP2PAttrPerformanceRank:
    case cudaDevP2PAttrOnlyPartialNativeAtomicSupported:
      return *value = 0, cudaSuccess;
    case cudaDevP2PAttrAccessSupported:
    case cudaDevP2PAttrNativeAtomicSupported:
    case cudaDevP2PAttrCudaArrayAccessSupported:
      return *value = 1, cudaSuccess;
  }
  return fail(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  HOSTCUDA_API_CALL;
  if (flags) return fail(cudaErrorInvalidValue);
  if (!valid_device(peer) || peer == current) return fail(cudaErrorInvalidDevice);
  const bool added = peers_of_current_device().insert(peer).second;
  return added ? cudaSuccess : fail(cudaErrorPeerAccessAlreadyEnabled);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  HOSTCUDA_API_CALL;
  if (!valid_device(peer)) return fail(cudaErrorInvalidDevice);
  const bool removed = peers_of_current_device().erase(peer) == 1;
  return removed ? cudaSuccess : fail(cudaErrorPeerAccessNotEnabled);
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  HOSTCUDA_API_CALL;
  if (!device || !wanted) return fail(cudaErrorInvalidValue);
  *device = 0;  // all devices are the same
  return cudaSuccess;
}

// ---- hints and limits that have no effect here -------------------------------------------------

namespace {

std::map<int, unsigned>& flags_of_devices() {
  static auto* map = new std::map<int, unsigned>;
  return *map;
}

}  // namespace

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  HOSTCUDA_API_CALL;
  flags_of_devices()[current_device()] = flags;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  HOSTCUDA_API_CALL;
  if (!flags) return fail(cudaErrorInvalidValue);
  *flags = flags_of_devices()[current_device()];
  return cudaSuccess;
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  HOSTCUDA_API_CALL;
  return valid_device(device) ? cudaSuccess : fail(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetPCIBusId(char* name, int length, int device) {
  HOSTCUDA_API_CALL;
  if (!name || length < 13) return fail(cudaErrorInvalidValue);
  if (!valid_device(device)) return fail(cudaErrorInvalidDevice);
  std::snprintf(name, static_cast<std::size_t>(length), "0000:%02X:00.0", device);
  return cudaSuccess;
}

// name: [domain:]bus:device.function
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* name) {
  HOSTCUDA_API_CALL;
  unsigned bus = 0;
  if (!device || !name ||
      (std::sscanf(name, "%*x:%x:", &bus) != 1 && std::sscanf(name, "%x:", &bus) != 1))
    return fail(cudaErrorInvalidValue);
  if (!valid_device(static_cast<int>(bus))) return fail(cudaErrorInvalidDevice);
  *device = static_cast<int>(bus);
  return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  HOSTCUDA_API_CALL;
  return cudaSuccess;
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  HOSTCUDA_API_CALL;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  HOSTCUDA_API_CALL_ALSO_OF_KERNELS;
  if (!config) return fail(cudaErrorInvalidValue);
  *config = cudaFuncCachePreferNone;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  HOSTCUDA_API_CALL_ALSO_OF_KERNELS;
  if (!config) return fail(cudaErrorInvalidValue);
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  HOSTCUDA_API_CALL;
  return cudaSuccess;
}

cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

namespace {

constexpr int kLimits = cudaLimitPersistingL2CacheSize + 1;

std::size_t& limit_value(cudaLimit limit) {
  static std::size_t values[kLimits] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};  // as on a GPU
  return values[limit];
}

}  // namespace

std::size_t hostcuda::kernel_heap_size() { return limit_value(cudaLimitMallocHeapSize); }

std::size_t hostcuda::pending_launches() {
  return limit_value(cudaLimitDevRuntimePendingLaunchCount);
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  HOSTCUDA_API_CALL;
  if (limit < 0 || limit >= kLimits) return fail(cudaErrorInvalidValue);
  // The device has no cache, so it can keep 0 bytes in it.
  limit_value(limit) = limit == cudaLimitPersistingL2CacheSize ? 0 : value;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  HOSTCUDA_API_CALL_ALSO_OF_KERNELS;
  if (!value || limit < 0 || limit >= kLimits) return fail(cudaErrorInvalidValue);
  *value = limit_value(limit);
  return cudaSuccess;
}
