// Allocations, copies and fills.
#include "runtime/memory.h"

#include <cstring>
#include <vector>

#include "driver/context.h"

using namespace hostcuda;

CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaMemGetInfo(free, total));
}

CUresult cuMemAlloc(CUdeviceptr* pointer, std::size_t size) {
  HOSTCUDA_CONTEXT_CALL;
  void* memory = nullptr;
  if (!pointer || !size) return CUDA_ERROR_INVALID_VALUE;
  const cudaError_t error = cudaMalloc(&memory, size);
  return store(pointer, memory, error);
}

CUresult cuMemAllocPitch(CUdeviceptr* pointer, std::size_t* pitch, std::size_t width,
                         std::size_t height, unsigned element_size) {
  HOSTCUDA_CONTEXT_CALL;
  void* memory = nullptr;
  if (!pointer || !pitch || !width || !height) return CUDA_ERROR_INVALID_VALUE;
  if (element_size != 4 && element_size != 8 && element_size != 16) return CUDA_ERROR_INVALID_VALUE;
  const cudaError_t error = cudaMallocPitch(&memory, pitch, width, height);
  return store(pointer, memory, error);
}

CUresult cuMemAllocManaged(CUdeviceptr* pointer, std::size_t size, unsigned flags) {
  HOSTCUDA_CONTEXT_CALL;
  void* memory = nullptr;
  if (!pointer || !size) return CUDA_ERROR_INVALID_VALUE;
  const cudaError_t error = cudaMallocManaged(&memory, size, flags);
  return store(pointer, memory, error);
}

CUresult cuMemAllocAsync(CUdeviceptr* pointer, std::size_t size, CUstream stream) {
  HOSTCUDA_CONTEXT_CALL;
  void* memory = nullptr;
  if (!pointer) return CUDA_ERROR_INVALID_VALUE;
  const cudaError_t error = cudaMallocAsync(&memory, size, stream);
  return store(pointer, memory, error);
}

CUresult cuMemFree(CUdeviceptr pointer) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaFree(pointer_of(pointer)));
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaFreeAsync(pointer_of(pointer), stream));
}

CUresult cuMemGetAddressRange(CUdeviceptr* base, std::size_t* size, CUdeviceptr pointer) {
  HOSTCUDA_CONTEXT_CALL;
  const AllocatedRange range = allocation_at(pointer_of(pointer));
  if (!range.begin) return CUDA_ERROR_NOT_FOUND;
  if (base) *base = address_of(range.begin);
  if (size) *size = range.size;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocHost(void** pointer, std::size_t size) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaMallocHost(pointer, size));
}

CUresult cuMemHostAlloc(void** pointer, std::size_t size, unsigned flags) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaHostAlloc(pointer, size, flags));
}

CUresult cuMemFreeHost(void* pointer) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaFreeHost(pointer));
}

CUresult cuMemHostRegister(void* pointer, std::size_t size, unsigned flags) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaHostRegister(pointer, size, flags));
}

CUresult cuMemHostUnregister(void* pointer) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaHostUnregister(pointer));
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* device, void* host, unsigned flags) {
  HOSTCUDA_CONTEXT_CALL;
  void* pointer = nullptr;
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  const cudaError_t error = cudaHostGetDevicePointer(&pointer, host, flags);
  return store(device, pointer, error);
}

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr pointer) {
  HOSTCUDA_CONTEXT_CALL;
  cudaPointerAttributes known;
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  if (const cudaError_t error = cudaPointerGetAttributes(&known, pointer_of(pointer)))
    return result_of(error);
  if (known.type == cudaMemoryTypeUnregistered) return CUDA_ERROR_INVALID_VALUE;
  const AllocatedRange range = allocation_at(pointer_of(pointer));
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(value) =
          known.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(value) = pointer;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (known.type == cudaMemoryTypeDevice) return CUDA_ERROR_INVALID_VALUE;
      *static_cast<void**>(value) = pointer_of(pointer);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned*>(value) = known.type == cudaMemoryTypeManaged;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(value) = known.device;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      if (!range.begin) return CUDA_ERROR_INVALID_VALUE;
      *static_cast<CUdeviceptr*>(value) = address_of(range.begin);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      if (!range.begin) return CUDA_ERROR_INVALID_VALUE;
      *static_cast<std::size_t*>(value) = range.size;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      *static_cast<CUcontext*>(value) = current_context();
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuMemPrefetchAsync(CUdeviceptr pointer, std::size_t size, CUmemLocation location,
                            unsigned flags, CUstream stream) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaMemPrefetchAsync(
      pointer_of(pointer), size,
      cudaMemLocation{static_cast<cudaMemLocationType>(location.type), location.id}, flags,
      stream));
}

CUresult cuMemAdvise(CUdeviceptr pointer, std::size_t size, CUmem_advise advice,
                     CUmemLocation location) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(
      cudaMemAdvise(pointer_of(pointer), size, static_cast<cudaMemoryAdvise>(advice),
                    cudaMemLocation{static_cast<cudaMemLocationType>(location.type), location.id}));
}

// ---- copies -------------------------------------------------------------------------------------

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t size) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaMemcpy(pointer_of(to), pointer_of(from), size, cudaMemcpyDefault));
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream stream) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(
      cudaMemcpyAsync(pointer_of(to), pointer_of(from), size, cudaMemcpyDefault, stream));
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t size) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaMemcpy(pointer_of(to), from, size, cudaMemcpyHostToDevice));
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t size, CUstream stream) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaMemcpyAsync(pointer_of(to), from, size, cudaMemcpyHostToDevice, stream));
}

CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t size) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaMemcpy(to, pointer_of(from), size, cudaMemcpyDeviceToHost));
}

CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t size, CUstream stream) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaMemcpyAsync(to, pointer_of(from), size, cudaMemcpyDeviceToHost, stream));
}

CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t size) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaMemcpy(pointer_of(to), pointer_of(from), size, cudaMemcpyDeviceToDevice));
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream stream) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(
      cudaMemcpyAsync(pointer_of(to), pointer_of(from), size, cudaMemcpyDeviceToDevice, stream));
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, std::size_t size) {
  return cuMemcpyPeerAsync(to, to_context, from, from_context, size, nullptr);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, std::size_t size, CUstream stream) {
  HOSTCUDA_CONTEXT_CALL;
  if (!is_context(to_context) || !is_context(from_context)) return CUDA_ERROR_INVALID_CONTEXT;
  return result_of(cudaMemcpyPeerAsync(pointer_of(to), to_context->device, pointer_of(from),
                                       from_context->device, size, stream));
}

// ---- fills --------------------------------------------------------------------------------------

namespace {

// Fills `height` rows. If the value's bytes differ, copies rows of the value from host memory.
template <class Value>
CUresult fill(CUdeviceptr pointer, std::size_t pitch, Value value, std::size_t width,
              std::size_t height, CUstream stream) {
  if (pointer % sizeof value || (height > 1 && pitch < width * sizeof value))
    return CUDA_ERROR_INVALID_VALUE;
  unsigned char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  if (!std::memcmp(bytes, bytes + 1, sizeof value - 1))
    return result_of(cudaMemset2DAsync(pointer_of(pointer), pitch, bytes[0], width * sizeof value,
                                       height, stream));
  const std::vector<Value> row(width, value);
  for (std::size_t i = 0; i < height; ++i)
    if (const cudaError_t error =
            cudaMemcpyAsync(pointer_of(pointer + i * pitch), row.data(), width * sizeof value,
                            cudaMemcpyHostToDevice, stream))
      return result_of(error);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuMemsetD8(CUdeviceptr pointer, unsigned char value, std::size_t count) {
  HOSTCUDA_CONTEXT_CALL;
  return fill(pointer, count, value, count, 1, nullptr);
}

CUresult cuMemsetD16(CUdeviceptr pointer, unsigned short value, std::size_t count) {
  HOSTCUDA_CONTEXT_CALL;
  return fill(pointer, 0, value, count, 1, nullptr);
}

CUresult cuMemsetD32(CUdeviceptr pointer, unsigned value, std::size_t count) {
  HOSTCUDA_CONTEXT_CALL;
  return fill(pointer, 0, value, count, 1, nullptr);
}

CUresult cuMemsetD8Async(CUdeviceptr pointer, unsigned char value, std::size_t count,
                         CUstream stream) {
  HOSTCUDA_CONTEXT_CALL;
  return fill(pointer, 0, value, count, 1, stream);
}

CUresult cuMemsetD16Async(CUdeviceptr pointer, unsigned short value, std::size_t count,
                          CUstream stream) {
  HOSTCUDA_CONTEXT_CALL;
  return fill(pointer, 0, value, count, 1, stream);
}

CUresult cuMemsetD32Async(CUdeviceptr pointer, unsigned value, std::size_t count, CUstream stream) {
  HOSTCUDA_CONTEXT_CALL;
  return fill(pointer, 0, value, count, 1, stream);
}

CUresult cuMemsetD2D8(CUdeviceptr pointer, std::size_t pitch, unsigned char value,
                      std::size_t width, std::size_t height) {
  HOSTCUDA_CONTEXT_CALL;
  return fill(pointer, pitch, value, width, height, nullptr);
}

CUresult cuMemsetD2D16(CUdeviceptr pointer, std::size_t pitch, unsigned short value,
                       std::size_t width, std::size_t height) {
  HOSTCUDA_CONTEXT_CALL;
  return fill(pointer, pitch, value, width, height, nullptr);
}

CUresult cuMemsetD2D32(CUdeviceptr pointer, std::size_t pitch, unsigned value, std::size_t width,
                       std::size_t height) {
  HOSTCUDA_CONTEXT_CALL;
  return fill(pointer, pitch, value, width, height, nullptr);
}
