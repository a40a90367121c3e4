// Arrays, copies of boxes, textures and surfaces.
#include "runtime/array.h"

#include <cstring>

#include "driver/context.h"

namespace hostcuda {
namespace {

cudaArray_t array_of(CUarray array) { return reinterpret_cast<cudaArray_t>(array); }

// Returns a format of 0 bits if hostcuda does not have it.
cudaChannelFormatDesc format_of(CUarray_format format, unsigned channels) {
  int bits = 0;
  cudaChannelFormatKind kind = cudaChannelFormatKindNone;
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      bits = 8;
      break;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      bits = 16;
      break;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
      bits = 32;
  }
  if (format == CU_AD_FORMAT_FLOAT || format == CU_AD_FORMAT_HALF)
    kind = cudaChannelFormatKindFloat;
  else
    kind = format < CU_AD_FORMAT_SIGNED_INT8 ? cudaChannelFormatKindUnsigned
                                             : cudaChannelFormatKindSigned;
  if (channels != 1 && channels != 2 && channels != 4) bits = 0;
  return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 2 ? bits : 0, kind};
}

void describe(const cudaChannelFormatDesc& format, CUarray_format* kind, unsigned* channels) {
  *channels = format.w ? 4 : format.y ? 2 : 1;
  const bool is_signed = format.f == cudaChannelFormatKindSigned;
  if (format.f == cudaChannelFormatKindFloat)
    *kind = format.x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
  else if (format.x == 8)
    *kind = is_signed ? CU_AD_FORMAT_SIGNED_INT8 : CU_AD_FORMAT_UNSIGNED_INT8;
  else if (format.x == 16)
    *kind = is_signed ? CU_AD_FORMAT_SIGNED_INT16 : CU_AD_FORMAT_UNSIGNED_INT16;
  else
    *kind = is_signed ? CU_AD_FORMAT_SIGNED_INT32 : CU_AD_FORMAT_UNSIGNED_INT32;
}

CUresult create_array(CUarray* array, CUarray_format kind, unsigned channels, cudaExtent extent,
                      unsigned flags) {
  const cudaChannelFormatDesc format = format_of(kind, channels);
  if (!format.x) return CUDA_ERROR_INVALID_VALUE;
  if (flags & CUDA_ARRAY3D_CUBEMAP) return CUDA_ERROR_NOT_SUPPORTED;
  return result_of(
      cudaMalloc3DArray(reinterpret_cast<cudaArray_t*>(array), &format, extent, flags));
}

// Returns the address of the byte in the array, or null if the array has fewer than `size` bytes
// from there on.
char* place_in(CUarray array, std::size_t offset, std::size_t size) {
  const cudaArray_t known = array_of(array);
  return offset + size <= known->bytes() ? known->data + offset : nullptr;
}

// The source or target of a copy of a box: the address of its first byte, the distance between
// rows and between slices, and whether it is host memory, device memory or either.
struct Side {
  char* begin = nullptr;
  std::size_t pitch = 0, slice = 0;
  CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
};

bool fits(const cudaArray& array, std::size_t x, std::size_t y, std::size_t z,
          const CUDA_MEMCPY3D& copy) {
  return x + copy.WidthInBytes <= array.pitch() && y + copy.Height <= array.rows() &&
         z + copy.Depth <= array.slices();
}

bool describe_side(Side& side, CUmemorytype type, const void* host, CUdeviceptr device,
                   CUarray array, std::size_t pitch, std::size_t height, std::size_t x,
                   std::size_t y, std::size_t z, const CUDA_MEMCPY3D& copy) {
  if (!pitch) pitch = copy.WidthInBytes;
  if (!height) height = copy.Height;
  side.type = type;
  switch (type) {
    case CU_MEMORYTYPE_HOST:
      side.begin = static_cast<char*>(const_cast<void*>(host));
      break;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
      side.begin = static_cast<char*>(pointer_of(device));
      break;
    case CU_MEMORYTYPE_ARRAY:
      if (!array || !fits(*array_of(array), x, y, z, copy)) return false;
      side.begin = array_of(array)->data;
      pitch = array_of(array)->pitch();
      height = array_of(array)->rows();
      break;
    default:
      return false;
  }
  if (!side.begin || (copy.Height > 1 && pitch < copy.WidthInBytes)) return false;
  side.pitch = pitch;
  side.slice = pitch * height;
  side.begin += z * side.slice + y * pitch + x;
  return true;
}

cudaMemcpyKind kind_of(CUmemorytype to, CUmemorytype from) {
  if (to == CU_MEMORYTYPE_UNIFIED || from == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  const bool to_host = to == CU_MEMORYTYPE_HOST, from_host = from == CU_MEMORYTYPE_HOST;
  if (from_host) return to_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  return to_host ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

CUresult copy_box(const CUDA_MEMCPY3D& copy, bool asynchronous, CUstream stream) {
  Side to, from;
  if (!describe_side(from, copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray,
                     copy.srcPitch, copy.srcHeight, copy.srcXInBytes, copy.srcY, copy.srcZ, copy) ||
      !describe_side(to, copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray,
                     copy.dstPitch, copy.dstHeight, copy.dstXInBytes, copy.dstY, copy.dstZ, copy))
    return CUDA_ERROR_INVALID_VALUE;
  const cudaMemcpyKind kind = kind_of(to.type, from.type);
  for (std::size_t z = 0; z < copy.Depth; ++z) {
    char *const target = to.begin + z * to.slice, *const source = from.begin + z * from.slice;
    const cudaError_t error = asynchronous
                                  ? cudaMemcpy2DAsync(target, to.pitch, source, from.pitch,
                                                      copy.WidthInBytes, copy.Height, kind, stream)
                                  : cudaMemcpy2D(target, to.pitch, source, from.pitch,
                                                 copy.WidthInBytes, copy.Height, kind);
    if (error) return result_of(error);
  }
  return CUDA_SUCCESS;
}

CUDA_MEMCPY3D box_of(const CUDA_MEMCPY2D& copy) {
  CUDA_MEMCPY3D box{};
  box.srcXInBytes = copy.srcXInBytes;
  box.srcY = copy.srcY;
  box.srcMemoryType = copy.srcMemoryType;
  box.srcHost = copy.srcHost;
  box.srcDevice = copy.srcDevice;
  box.srcArray = copy.srcArray;
  box.srcPitch = copy.srcPitch;
  box.dstXInBytes = copy.dstXInBytes;
  box.dstY = copy.dstY;
  box.dstMemoryType = copy.dstMemoryType;
  box.dstHost = copy.dstHost;
  box.dstDevice = copy.dstDevice;
  box.dstArray = copy.dstArray;
  box.dstPitch = copy.dstPitch;
  box.WidthInBytes = copy.WidthInBytes;
  box.Height = copy.Height;
  box.Depth = 1;
  return box;
}

bool describe_resource(const CUDA_RESOURCE_DESC& wanted, cudaResourceDesc& resource) {
  resource = {};
  switch (wanted.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      resource.resType = cudaResourceTypeArray;
      resource.res.array.array = array_of(wanted.res.array.hArray);
      return true;
    case CU_RESOURCE_TYPE_LINEAR: {
      const auto& linear = wanted.res.linear;
      resource.resType = cudaResourceTypeLinear;
      resource.res.linear.devPtr = pointer_of(linear.devPtr);
      resource.res.linear.desc = format_of(linear.format, linear.numChannels);
      resource.res.linear.sizeInBytes = linear.sizeInBytes;
      return true;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto& rows = wanted.res.pitch2D;
      resource.resType = cudaResourceTypePitch2D;
      resource.res.pitch2D.devPtr = pointer_of(rows.devPtr);
      resource.res.pitch2D.desc = format_of(rows.format, rows.numChannels);
      resource.res.pitch2D.width = rows.width;
      resource.res.pitch2D.height = rows.height;
      resource.res.pitch2D.pitchInBytes = rows.pitchInBytes;
      return true;
    }
    default:
      return false;
  }
}

cudaChannelFormatDesc format_in(const cudaResourceDesc& resource) {
  switch (resource.resType) {
    case cudaResourceTypeArray:
      return resource.res.array.array ? resource.res.array.array->format : cudaChannelFormatDesc{};
    case cudaResourceTypeLinear:
      return resource.res.linear.desc;
    default:
      return resource.res.pitch2D.desc;
  }
}

cudaTextureDesc describe_texture(const CUDA_TEXTURE_DESC& wanted,
                                 const cudaChannelFormatDesc& format) {
  cudaTextureDesc made{};
  for (int i = 0; i < 3; ++i)
    made.addressMode[i] = static_cast<cudaTextureAddressMode>(wanted.addressMode[i]);
  made.filterMode = static_cast<cudaTextureFilterMode>(wanted.filterMode);
  made.normalizedCoords = (wanted.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  std::memcpy(made.borderColor, wanted.borderColor, sizeof made.borderColor);
  // Unless a flag forbids it, integers of 8 and 16 bits are read as fractions.
  const bool fractions = !(wanted.flags & CU_TRSF_READ_AS_INTEGER) && format.x < 32 &&
                         format.f != cudaChannelFormatKindFloat;
  made.readMode = fractions ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  return made;
}

}  // namespace
}  // namespace hostcuda

using namespace hostcuda;

CUresult cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* wanted) {
  HOSTCUDA_CONTEXT_CALL;
  if (!array || !wanted) return CUDA_ERROR_INVALID_VALUE;
  return create_array(array, wanted->Format, wanted->NumChannels,
                      {wanted->Width, wanted->Height, 0}, 0);
}

CUresult cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* wanted) {
  HOSTCUDA_CONTEXT_CALL;
  if (!array || !wanted) return CUDA_ERROR_INVALID_VALUE;
  return create_array(array, wanted->Format, wanted->NumChannels,
                      {wanted->Width, wanted->Height, wanted->Depth}, wanted->Flags);
}

CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* description, CUarray array) {
  HOSTCUDA_CONTEXT_CALL;
  if (!array) return CUDA_ERROR_INVALID_HANDLE;
  if (!description) return CUDA_ERROR_INVALID_VALUE;
  const cudaArray& known = *array_of(array);
  *description = {known.extent.width, known.extent.height, {}, 0};
  describe(known.format, &description->Format, &description->NumChannels);
  return CUDA_SUCCESS;
}

CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray array) {
  HOSTCUDA_CONTEXT_CALL;
  if (!array) return CUDA_ERROR_INVALID_HANDLE;
  if (!description) return CUDA_ERROR_INVALID_VALUE;
  const cudaArray& known = *array_of(array);
  *description = {known.extent.width, known.extent.height, known.extent.depth, {}, 0, known.flags};
  describe(known.format, &description->Format, &description->NumChannels);
  return CUDA_SUCCESS;
}

CUresult cuArrayDestroy(CUarray array) {
  HOSTCUDA_CONTEXT_CALL;
  if (!array) return CUDA_ERROR_INVALID_HANDLE;
  return result_of(cudaFreeArray(array_of(array)));
}

CUresult cuMemcpyHtoA(CUarray to, std::size_t offset, const void* from, std::size_t size) {
  HOSTCUDA_CONTEXT_CALL;
  char* const place = to ? place_in(to, offset, size) : nullptr;
  if (!place) return CUDA_ERROR_INVALID_VALUE;
  return result_of(cudaMemcpy(place, from, size, cudaMemcpyHostToDevice));
}

CUresult cuMemcpyAtoH(void* to, CUarray from, std::size_t offset, std::size_t size) {
  HOSTCUDA_CONTEXT_CALL;
  const char* const place = from ? place_in(from, offset, size) : nullptr;
  if (!place) return CUDA_ERROR_INVALID_VALUE;
  return result_of(cudaMemcpy(to, place, size, cudaMemcpyDeviceToHost));
}

CUresult cuMemcpyDtoA(CUarray to, std::size_t offset, CUdeviceptr from, std::size_t size) {
  HOSTCUDA_CONTEXT_CALL;
  char* const place = to ? place_in(to, offset, size) : nullptr;
  if (!place) return CUDA_ERROR_INVALID_VALUE;
  return result_of(cudaMemcpy(place, pointer_of(from), size, cudaMemcpyDeviceToDevice));
}

CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, std::size_t offset, std::size_t size) {
  HOSTCUDA_CONTEXT_CALL;
  const char* const place = from ? place_in(from, offset, size) : nullptr;
  if (!place) return CUDA_ERROR_INVALID_VALUE;
  return result_of(cudaMemcpy(pointer_of(to), place, size, cudaMemcpyDeviceToDevice));
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D* copy) {
  HOSTCUDA_CONTEXT_CALL;
  return copy ? copy_box(box_of(*copy), false, nullptr) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* copy) { return cuMemcpy2D(copy); }

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream stream) {
  HOSTCUDA_CONTEXT_CALL;
  return copy ? copy_box(box_of(*copy), true, stream) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpy3D(const CUDA_MEMCPY3D* copy) {
  HOSTCUDA_CONTEXT_CALL;
  return copy ? copy_box(*copy, false, nullptr) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* copy, CUstream stream) {
  HOSTCUDA_CONTEXT_CALL;
  return copy ? copy_box(*copy, true, stream) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuTexObjectCreate(CUtexObject* texture, const CUDA_RESOURCE_DESC* wanted,
                           const CUDA_TEXTURE_DESC* description,
                           const CUDA_RESOURCE_VIEW_DESC* view) {
  HOSTCUDA_CONTEXT_CALL;
  cudaResourceDesc resource;
  if (!texture || !wanted || !description) return CUDA_ERROR_INVALID_VALUE;
  if (view || !describe_resource(*wanted, resource)) return CUDA_ERROR_NOT_SUPPORTED;
  const cudaTextureDesc made = describe_texture(*description, format_in(resource));
  return result_of(cudaCreateTextureObject(texture, &resource, &made, nullptr));
}

CUresult cuTexObjectDestroy(CUtexObject texture) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaDestroyTextureObject(texture));
}

CUresult cuSurfObjectCreate(CUsurfObject* surface, const CUDA_RESOURCE_DESC* wanted) {
  HOSTCUDA_CONTEXT_CALL;
  cudaResourceDesc resource;
  if (!surface || !wanted) return CUDA_ERROR_INVALID_VALUE;
  if (!describe_resource(*wanted, resource)) return CUDA_ERROR_NOT_SUPPORTED;
  return result_of(cudaCreateSurfaceObject(surface, &resource));
}

CUresult cuSurfObjectDestroy(CUsurfObject surface) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaDestroySurfaceObject(surface));
}
