// Texture and surface objects.
#include "hostcuda/texture.h"

#include <set>

#include "runtime/api.h"
#include "runtime/array.h"
#include "support/observer.h"

using namespace hostcuda;

namespace {

std::set<unsigned long long>& objects() {
  static auto* set = new std::set<unsigned long long>;
  return *set;
}

std::size_t bytes_of(const cudaChannelFormatDesc& format) {
  return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
}

bool describe(const cudaResourceDesc& resource, Texture& texture) {
  texture.resource = resource;
  texture.depth = texture.height = 1;
  switch (resource.resType) {
    case cudaResourceTypeArray: {
      const cudaArray* array = resource.res.array.array;
      if (!array) return false;
      texture.format = array->format;
      texture.data = array->data;
      texture.width = array->extent.width;
      texture.height = array->rows();
      texture.depth = array->slices();
      texture.pitch = array->pitch();
      texture.layered = array->flags & cudaArrayLayered;
      break;
    }
    case cudaResourceTypeLinear: {
      const auto& linear = resource.res.linear;
      texture.format = linear.desc;
      texture.data = static_cast<char*>(linear.devPtr);
      if (!bytes_of(linear.desc)) return false;
      if (runtime_observer)
        runtime_observer->texture_bound(linear.devPtr, linear.sizeInBytes, bytes_of(linear.desc));
      texture.width = linear.sizeInBytes / bytes_of(linear.desc);
      texture.pitch = linear.sizeInBytes;
      break;
    }
    case cudaResourceTypePitch2D: {
      const auto& rows = resource.res.pitch2D;
      texture.format = rows.desc;
      texture.data = static_cast<char*>(rows.devPtr);
      texture.width = rows.width;
      texture.height = rows.height;
      texture.pitch = rows.pitchInBytes;
      break;
    }
    case cudaResourceTypeMipmappedArray:
      return false;
  }
  texture.texel = bytes_of(texture.format);
  return texture.data && texture.texel && texture.width;
}

cudaError_t create(unsigned long long* object, const cudaResourceDesc* resource,
                   const cudaTextureDesc& description) {
  HOSTCUDA_API_CALL;
  Texture texture{};
  if (!object || !resource || !describe(*resource, texture)) return fail(cudaErrorInvalidValue);
  // Linear filtering returns fractions, so the texels must be floats or be read as normalised
  // floats.
  const bool fractions = texture.format.f == cudaChannelFormatKindFloat ||
                         description.readMode == cudaReadModeNormalizedFloat;
  if (description.filterMode == cudaFilterModeLinear && !fractions)
    return fail(cudaErrorInvalidFilterSetting);
  if (description.readMode == cudaReadModeNormalizedFloat && texture.format.x > 16 &&
      texture.format.f != cudaChannelFormatKindFloat)
    return fail(cudaErrorInvalidNormSetting);
  texture.description = description;
  *object = reinterpret_cast<unsigned long long>(new Texture(texture));
  objects().insert(*object);
  return cudaSuccess;
}

cudaError_t destroy(unsigned long long object) {
  HOSTCUDA_API_CALL;
  if (!object) return cudaSuccess;
  if (!objects().erase(object)) return fail(cudaErrorInvalidValue);
  delete &texture_of(object);
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description,
                                    const cudaResourceViewDesc* view) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  if (!description) return fail(cudaErrorInvalidValue);
  if (view) return fail(cudaErrorNotSupported);
  if (description->seamlessCubemap && description->filterMode == cudaFilterModeLinear)
    return fail(cudaErrorNotSupported, "seamless filtering of cube maps is not emulated");
  return create(texture, resource, *description);
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) { return destroy(texture); }

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t texture) {
  HOSTCUDA_API_CALL;
  if (!resource || !objects().contains(texture)) return fail(cudaErrorInvalidValue);
  *resource = texture_of(texture).resource;
  return cudaSuccess;
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* description,
                                            cudaTextureObject_t texture) {
  HOSTCUDA_API_CALL;
  if (!description || !objects().contains(texture)) return fail(cudaErrorInvalidValue);
  *description = texture_of(texture).description;
  return cudaSuccess;
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t surface) {
  return cudaGetTextureObjectResourceDesc(resource, surface);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                    const cudaResourceDesc* resource) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  if (resource && resource->resType != cudaResourceTypeArray) return fail(cudaErrorInvalidValue);
  return create(surface, resource, {});
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) { return destroy(surface); }
