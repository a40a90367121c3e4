#include "runtime/device.h"

#include <algorithm>
#include <cstdio>
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

std::set<int>& peers_of_current_device() { return peers()[static_cast<std::size_t>(current)]; }

}  // namespace

int current_device() { return current; }

bool valid_device(int device) { return device >= 0 && device < config().devices; }

const std::set<int>& peers_of(int device) { return peers()[static_cast<std::size_t>(device)]; }

}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaGetDeviceCount(int* count) {
  if (!count) return fail(cudaErrorInvalidValue);
  *count = config().devices;
  HOSTCUDA_API_CALL;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  HOSTCUDA_API_CALL;
  if (!valid_device(device)) return fail(cudaErrorInvalidDevice);
  current = device;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  HOSTCUDA_API_CALL;
  if (!device) return fail(cudaErrorInvalidValue);
  *device = current;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  if (!version) return fail(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  HOSTCUDA_API_CALL;
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
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      return *value = p.maxThreadsPerBlock, cudaSuccess;
    case cudaDevAttrMaxBlockDimX:
      return *value = p.maxThreadsDim[0], cudaSuccess;
    case cudaDevAttrMaxBlockDimY:
      return *value = p.maxThreadsDim[1], cudaSuccess;
    case cudaDevAttrMaxBlockDimZ:
      return *value = p.maxThreadsDim[2], cudaSuccess;
    case cudaDevAttrMaxGridDimX:
      return *value = p.maxGridSize[0], cudaSuccess;
    case cudaDevAttrMaxGridDimY:
      return *value = p.maxGridSize[1], cudaSuccess;
    case cudaDevAttrMaxGridDimZ:
      return *value = p.maxGridSize[2], cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return *value = static_cast<int>(p.sharedMemPerBlock), cudaSuccess;
    case cudaDevAttrTotalConstantMemory:
      return *value = static_cast<int>(p.totalConstMem), cudaSuccess;
    case cudaDevAttrWarpSize:
      return *value = p.warpSize, cudaSuccess;
    case cudaDevAttrMaxPitch:
      return *value = static_cast<int>(p.memPitch), cudaSuccess;
    case cudaDevAttrMaxRegistersPerBlock:
      return *value = p.regsPerBlock, cudaSuccess;
    case cudaDevAttrClockRate:
      return *value = p.clockRate, cudaSuccess;
    case cudaDevAttrTextureAlignment:
      return *value = static_cast<int>(p.textureAlignment), cudaSuccess;
    case cudaDevAttrGpuOverlap:
      return *value = p.deviceOverlap, cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
      return *value = p.multiProcessorCount, cudaSuccess;
    case cudaDevAttrKernelExecTimeout:
      return *value = p.kernelExecTimeoutEnabled, cudaSuccess;
    case cudaDevAttrIntegrated:
      return *value = p.integrated, cudaSuccess;
    case cudaDevAttrCanMapHostMemory:
      return *value = p.canMapHostMemory, cudaSuccess;
    case cudaDevAttrComputeMode:
      return *value = p.computeMode, cudaSuccess;
    case cudaDevAttrConcurrentKernels:
      return *value = p.concurrentKernels, cudaSuccess;
    case cudaDevAttrEccEnabled:
      return *value = p.ECCEnabled, cudaSuccess;
    case cudaDevAttrPciBusId:
      return *value = p.pciBusID, cudaSuccess;
    case cudaDevAttrPciDeviceId:
      return *value = p.pciDeviceID, cudaSuccess;
    case cudaDevAttrTccDriver:
      return *value = p.tccDriver, cudaSuccess;
    case cudaDevAttrMemoryClockRate:
      return *value = p.memoryClockRate, cudaSuccess;
    case cudaDevAttrGlobalMemoryBusWidth:
      return *value = p.memoryBusWidth, cudaSuccess;
    case cudaDevAttrL2CacheSize:
      return *value = p.l2CacheSize, cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return *value = p.maxThreadsPerMultiProcessor, cudaSuccess;
    case cudaDevAttrAsyncEngineCount:
      return *value = p.asyncEngineCount, cudaSuccess;
    case cudaDevAttrUnifiedAddressing:
      return *value = p.unifiedAddressing, cudaSuccess;
    case cudaDevAttrPciDomainId:
      return *value = p.pciDomainID, cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      return *value = p.major, cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      return *value = p.minor, cudaSuccess;
    case cudaDevAttrStreamPrioritiesSupported:
      return *value = p.streamPrioritiesSupported, cudaSuccess;
    case cudaDevAttrGlobalL1CacheSupported:
      return *value = p.globalL1CacheSupported, cudaSuccess;
    case cudaDevAttrLocalL1CacheSupported:
      return *value = p.localL1CacheSupported, cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return *value = static_cast<int>(p.sharedMemPerMultiprocessor), cudaSuccess;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return *value = p.regsPerMultiprocessor, cudaSuccess;
    case cudaDevAttrManagedMemory:
      return *value = p.managedMemory, cudaSuccess;
    case cudaDevAttrIsMultiGpuBoard:
      return *value = p.isMultiGpuBoard, cudaSuccess;
    case cudaDevAttrHostNativeAtomicSupported:
      return *value = p.hostNativeAtomicSupported, cudaSuccess;
    case cudaDevAttrPageableMemoryAccess:
      return *value = p.pageableMemoryAccess, cudaSuccess;
    case cudaDevAttrConcurrentManagedAccess:
      return *value = p.concurrentManagedAccess, cudaSuccess;
    case cudaDevAttrComputePreemptionSupported:
      return *value = p.computePreemptionSupported, cudaSuccess;
    case cudaDevAttrCooperativeLaunch:
      return *value = p.cooperativeLaunch, cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return *value = static_cast<int>(p.sharedMemPerBlockOptin), cudaSuccess;
    case cudaDevAttrHostRegisterSupported:
      return *value = p.hostRegisterSupported, cudaSuccess;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return *value = p.maxBlocksPerMultiProcessor, cudaSuccess;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return *value = static_cast<int>(p.reservedSharedMemPerBlock), cudaSuccess;
    case cudaDevAttrMemoryPoolsSupported:
      return *value = p.memoryPoolsSupported, cudaSuccess;
    case cudaDevAttrClusterLaunch:
      return *value = p.clusterLaunch, cudaSuccess;
  }
  return fail(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  HOSTCUDA_API_CALL;
  if (least) *least = 0;
  if (greatest) *greatest = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
  HOSTCUDA_API_CALL;
  if (!can_access) return fail(cudaErrorInvalidValue);
  if (!valid_device(device) || !valid_device(peer)) return fail(cudaErrorInvalidDevice);
  *can_access = device != peer;
  return cudaSuccess;
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
  *device = 0;  // all are alike
  return cudaSuccess;
}

// ---- hints and limits that change nothing here --------------------------------------------------

cudaError_t cudaSetDeviceFlags(unsigned) {
  HOSTCUDA_API_CALL;
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
  HOSTCUDA_API_CALL;
  if (!config) return fail(cudaErrorInvalidValue);
  *config = cudaFuncCachePreferNone;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  HOSTCUDA_API_CALL;
  if (!config) return fail(cudaErrorInvalidValue);
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}

cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

namespace {

constexpr int kLimits = cudaLimitDevRuntimePendingLaunchCount + 1;

std::size_t& limit_value(cudaLimit limit) {
  static std::size_t values[kLimits] = {1024, 1 << 20, 8 << 20, 2, 2048};  // a GPU's defaults
  return values[limit];
}

}  // namespace

std::size_t hostcuda::kernel_heap_size() { return limit_value(cudaLimitMallocHeapSize); }

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  HOSTCUDA_API_CALL;
  if (limit < 0 || limit >= kLimits) return fail(cudaErrorInvalidValue);
  limit_value(limit) = value;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  HOSTCUDA_API_CALL;
  if (!value || limit < 0 || limit >= kLimits) return fail(cudaErrorInvalidValue);
  *value = limit_value(limit);
  return cudaSuccess;
}
