// hostcuda: the part of the CUDA runtime API that is emulated.
//
// Values of enumerators are those of CUDA. Every function records an error for cudaGetLastError,
// per host thread. All functions may be called from several host threads; operations themselves run
// one at a time, inside the call that makes them run (see HOSTCUDA_STREAMS in README.md).
#ifndef HOSTCUDA_RUNTIME_API_H
#define HOSTCUDA_RUNTIME_API_H

#include <cstddef>

#include "types.h"

#define CUDART_VERSION 13000  // the API level that this header follows

// The underlying type is fixed, so that a number that is no enumerator is still a valid value.
enum cudaError : unsigned {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidSymbol = 13,
  cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorDevicesUnavailable = 46,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorPeerAccessNotEnabled = 705,
  cudaErrorAssert = 710,
  cudaErrorHostMemoryAlreadyRegistered = 712,
  cudaErrorHostMemoryNotRegistered = 713,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801,
  cudaErrorUnknown = 999
};
typedef cudaError cudaError_t;

enum cudaMemcpyKind : unsigned {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};

typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
typedef void(CUDART_CB* cudaHostFn_t)(void*);
#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(1))  // the default stream, by name

constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
constexpr unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2;
constexpr unsigned cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
                   cudaHostAllocWriteCombined = 4;
constexpr unsigned cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1;
constexpr unsigned cudaMemAttachGlobal = 1;

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};

// What only a GPU compiler knows (registers, local memory) is 0.
struct cudaFuncAttributes {
  std::size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, maxDynamicSharedSizeBytes;
};

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrAsyncEngineCount = 40,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};

// The name says that this is no GPU. Limits are those of compute capability 9.0, whose launch rules
// are enforced; totalGlobalMem and multiProcessorCount come from the environment; cache, bus and
// clocks do not exist and are 0.
struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem, sharedMemPerBlock, totalConstMem, sharedMemPerMultiprocessor,
      sharedMemPerBlockOptin, reservedSharedMemPerBlock;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], major, minor,
      multiProcessorCount, integrated, canMapHostMemory, concurrentKernels, ECCEnabled, pciBusID,
      pciDeviceID, pciDomainID, asyncEngineCount, unifiedAddressing, memoryBusWidth, l2CacheSize,
      maxThreadsPerMultiProcessor, regsPerMultiprocessor, maxBlocksPerMultiProcessor;
};

// ---- errors -------------------------------------------------------------------------------------
// The last error stays until cudaGetLastError takes it. Faults that would leave a GPU's context
// unusable (a bad address, a divergent barrier) end the process here, with a message.
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

// ---- devices: the current device belongs to the calling host thread -----------------------------
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();  // waits for the device; allocations stay
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);

// ---- memory -------------------------------------------------------------------------------------
// cudaMalloc fails where HOSTCUDA_MEMORY would be passed. Fresh memory is not zero
// (HOSTCUDA_POISON).
cudaError_t cudaMalloc(void** pointer, std::size_t size);
cudaError_t cudaMallocManaged(void** pointer, std::size_t size,
                              unsigned flags = cudaMemAttachGlobal);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaMallocAsync(void** pointer, std::size_t size, cudaStream_t stream);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaHostAlloc(void** pointer, std::size_t size, unsigned flags);
cudaError_t cudaMallocHost(void** pointer, std::size_t size);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaHostRegister(void* pointer, std::size_t size, unsigned flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);

// Copies behave as on a GPU. Host memory that is not pinned: a copy to the device takes its bytes
// before it returns, a copy from the device returns when done. Pinned: asynchronous both ways.
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t size, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t size);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t size, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* pointer, int value, std::size_t size);
cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t size,
                            cudaStream_t stream = nullptr);

// ---- streams and events -------------------------------------------------------------------------
cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);
// The function must not wait for another host thread's API call: it runs inside the API's lock.
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);

// ---- kernels as objects, symbols ----------------------------------------------------------------
namespace hostcuda {

enum class SymbolCopy { to_symbol, from_symbol };
cudaError_t copy_symbol(void* symbol, std::size_t symbol_size, void* host_or_device,
                        std::size_t size, std::size_t offset, SymbolCopy direction,
                        cudaStream_t stream, bool asynchronous);
cudaError_t set_function_attribute(const void* function, cudaFuncAttribute attribute, int value);
cudaError_t get_function_attributes(cudaFuncAttributes* attributes, const void* function);
cudaError_t max_active_blocks(int* blocks, int block_size, std::size_t dynamic_shared_bytes);
cudaError_t max_potential_block_size(int* grid, int* block, std::size_t dynamic_shared_bytes,
                                     int limit);

}  // namespace hostcuda

template <class T>
inline cudaError_t cudaMalloc(T** pointer, std::size_t size) {
  return cudaMalloc(reinterpret_cast<void**>(pointer), size);
}
template <class T>
inline cudaError_t cudaMallocManaged(T** pointer, std::size_t size,
                                     unsigned flags = cudaMemAttachGlobal) {
  return cudaMallocManaged(reinterpret_cast<void**>(pointer), size, flags);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** pointer, std::size_t size, cudaStream_t stream) {
  return cudaMallocAsync(reinterpret_cast<void**>(pointer), size, stream);
}
template <class T>
inline cudaError_t cudaHostAlloc(T** pointer, std::size_t size, unsigned flags) {
  return cudaHostAlloc(reinterpret_cast<void**>(pointer), size, flags);
}
template <class T>
inline cudaError_t cudaMallocHost(T** pointer, std::size_t size) {
  return cudaMallocHost(reinterpret_cast<void**>(pointer), size);
}

template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, std::size_t size,
                                      std::size_t offset = 0,
                                      cudaMemcpyKind = cudaMemcpyHostToDevice) {
  return hostcuda::copy_symbol(const_cast<T*>(&symbol), sizeof symbol, const_cast<void*>(from),
                               size, offset, hostcuda::SymbolCopy::to_symbol, nullptr, false);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, std::size_t size,
                                           std::size_t offset, cudaMemcpyKind,
                                           cudaStream_t stream = nullptr) {
  return hostcuda::copy_symbol(const_cast<T*>(&symbol), sizeof symbol, const_cast<void*>(from),
                               size, offset, hostcuda::SymbolCopy::to_symbol, stream, true);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t size,
                                        std::size_t offset = 0,
                                        cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  return hostcuda::copy_symbol(const_cast<T*>(&symbol), sizeof symbol, to, size, offset,
                               hostcuda::SymbolCopy::from_symbol, nullptr, false);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, std::size_t size,
                                             std::size_t offset, cudaMemcpyKind,
                                             cudaStream_t stream = nullptr) {
  return hostcuda::copy_symbol(const_cast<T*>(&symbol), sizeof symbol, to, size, offset,
                               hostcuda::SymbolCopy::from_symbol, stream, true);
}

// More than 48 KiB of dynamic shared memory must be asked for here, as on a GPU.
template <class Function>
inline cudaError_t cudaFuncSetAttribute(Function* function, cudaFuncAttribute attribute,
                                        int value) {
  return hostcuda::set_function_attribute(reinterpret_cast<const void*>(function), attribute,
                                          value);
}
template <class Function>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Function* function) {
  return hostcuda::get_function_attributes(attributes, reinterpret_cast<const void*>(function));
}

// Occupancy counts threads, blocks and dynamic shared memory against the limits of compute
// capability 9.0. Registers and static shared memory are unknown here: on a GPU the true answer is
// this one or less.
template <class Function>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function*,
                                                                 int block_size,
                                                                 std::size_t dynamic_shared_bytes) {
  return hostcuda::max_active_blocks(blocks, block_size, dynamic_shared_bytes);
}
// Always proposes 256 threads (or the limit, if lower) and the grid that fills every
// multiprocessor with such blocks.
template <class Function>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Function*,
                                                      std::size_t dynamic_shared_bytes = 0,
                                                      int limit = 0) {
  return hostcuda::max_potential_block_size(grid, block, dynamic_shared_bytes, limit);
}

#endif
