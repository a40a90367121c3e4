// Devices.
#include "runtime/device.h"

#include <cstdio>
#include <cstring>

#include "driver/call.h"

using namespace hostcuda;

namespace {

struct Attribute {
  CUdevice_attribute attribute;
  int value;
};

// Returns the values of attributes that cudaDeviceGetAttribute does not know: the limits of
// textures and the driver's features. Memory that a program wants to be compressible is ordinary
// memory here.
CUresult find_attribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  cudaDeviceProp p;
  if (const cudaError_t error = cudaGetDeviceProperties(&p, device)) return result_of(error);
  const Attribute attributes[] = {
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, p.maxTexture1D},
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, p.maxTexture1DLinear},
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, p.maxTexture2D[0]},
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, p.maxTexture2D[1]},
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, p.maxTexture3D[0]},
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, p.maxTexture3D[1]},
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, p.maxTexture3D[2]},
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, p.maxTexture1DLayered[0]},
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS, p.maxTexture1DLayered[1]},
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH, p.maxTexture2DLayered[0]},
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, p.maxTexture2DLayered[1]},
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS, p.maxTexture2DLayered[2]},
      {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, static_cast<int>(p.texturePitchAlignment)},
      {CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, static_cast<int>(p.surfaceAlignment)},
      {CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED, 0},
      {CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
      {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 0},
      {CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH, 0},
  };
  for (const Attribute& known : attributes)
    if (known.attribute == attribute) return *value = known.value, CUDA_SUCCESS;
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  HOSTCUDA_DRIVER_CALL;
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  HOSTCUDA_DRIVER_CALL;
  return result_of(cudaGetDeviceCount(count));
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  HOSTCUDA_DRIVER_CALL;
  cudaDeviceProp p;
  if (!name || length < 1) return CUDA_ERROR_INVALID_VALUE;
  if (const cudaError_t error = cudaGetDeviceProperties(&p, device)) return result_of(error);
  std::snprintf(name, static_cast<std::size_t>(length), "%s", p.name);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  HOSTCUDA_DRIVER_CALL;
  if (!uuid) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::memcpy(uuid->bytes, "hostcuda device", sizeof uuid->bytes);
  uuid->bytes[sizeof uuid->bytes - 1] = static_cast<char>(device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  HOSTCUDA_DRIVER_CALL;
  cudaDeviceProp p;
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  if (const cudaError_t error = cudaGetDeviceProperties(&p, device)) return result_of(error);
  *bytes = p.totalGlobalMem;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  HOSTCUDA_DRIVER_CALL;
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (find_attribute(value, attribute, device) == CUDA_SUCCESS) return CUDA_SUCCESS;
  // The other attributes have the same numbers in both APIs.
  return result_of(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
}

CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice device) {
  HOSTCUDA_DRIVER_CALL;
  cudaDeviceProp p;
  if (!properties) return CUDA_ERROR_INVALID_VALUE;
  if (const cudaError_t error = cudaGetDeviceProperties(&p, device)) return result_of(error);
  *properties = {};
  properties->maxThreadsPerBlock = p.maxThreadsPerBlock;
  std::memcpy(properties->maxThreadsDim, p.maxThreadsDim, sizeof p.maxThreadsDim);
  std::memcpy(properties->maxGridSize, p.maxGridSize, sizeof p.maxGridSize);
  properties->sharedMemPerBlock = static_cast<int>(p.sharedMemPerBlock);
  properties->totalConstantMemory = static_cast<int>(p.totalConstMem);
  properties->SIMDWidth = p.warpSize;
  properties->memPitch = static_cast<int>(p.memPitch);
  properties->regsPerBlock = p.regsPerBlock;
  properties->clockRate = p.clockRate;
  properties->textureAlign = static_cast<int>(p.textureAlignment);
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  HOSTCUDA_DRIVER_CALL;
  cudaDeviceProp p;
  if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
  if (const cudaError_t error = cudaGetDeviceProperties(&p, device)) return result_of(error);
  *major = p.major;
  *minor = p.minor;
  return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int* can_access, CUdevice device, CUdevice peer) {
  HOSTCUDA_DRIVER_CALL;
  return result_of(cudaDeviceCanAccessPeer(can_access, device, peer));
}

CUresult cuDeviceGetPCIBusId(char* name, int length, CUdevice device) {
  HOSTCUDA_DRIVER_CALL;
  if (!name || length < 13) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(name, static_cast<std::size_t>(length), "0000:%02X:00.0", device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* name) {
  HOSTCUDA_DRIVER_CALL;
  unsigned number = 0;
  if (!device || !name) return CUDA_ERROR_INVALID_VALUE;
  if (std::sscanf(name, "%*x:%x:", &number) != 1 && std::sscanf(name, "%x:", &number) != 1)
    return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(static_cast<int>(number))) return CUDA_ERROR_INVALID_DEVICE;
  *device = static_cast<int>(number);
  return CUDA_SUCCESS;
}
