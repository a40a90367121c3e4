// hostcuda: textures and surfaces.
//
// A lookup evaluates the formulas of the CUDA programming guide in float; the weights of a linear
// filter have 8 fraction bits, as on a GPU. Mipmaps and sRGB are not supported.
#pragma once

#include <math.h>

#include <cstdint>
#include <cstring>

#include "array_api.h"
#include "device_functions.h"

enum cudaTextureAddressMode {
  cudaAddressModeWrap,
  cudaAddressModeClamp,
  cudaAddressModeMirror,
  cudaAddressModeBorder
};
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaResourceType {
  cudaResourceTypeArray,
  cudaResourceTypeMipmappedArray,
  cudaResourceTypeLinear,
  cudaResourceTypePitch2D
};
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };

struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
};
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceViewDesc;
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description,
                                    const cudaResourceViewDesc* view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture);
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* description,
                                            cudaTextureObject_t texture);
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t surface);
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t texture);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface);

namespace hostcuda {

// The memory and settings of a texture or surface object.
struct Texture {
  cudaResourceDesc resource;
  cudaTextureDesc description;
  cudaChannelFormatDesc format;
  char* data;
  std::size_t width, height, depth;  // in texels, at least 1
  std::size_t pitch, texel;          // in bytes
  bool layered;
};

inline const Texture& texture_of(unsigned long long object) {
  return *reinterpret_cast<const Texture*>(object);
}

// Maps index i to a texel between 0 and n - 1, according to the address mode; -1 means the border.
inline long address(long i, std::size_t n, cudaTextureAddressMode mode, bool normalized) {
  const long size = static_cast<long>(n);
  if (i >= 0 && i < size) return i;
  if (mode == cudaAddressModeBorder) return -1;
  const long wrapped = (i % size + size) % size;
  if (normalized && mode == cudaAddressModeWrap) return wrapped;
  if (normalized && mode == cudaAddressModeMirror) {
    const long twice = (i % (2 * size) + 2 * size) % (2 * size);
    return twice < size ? twice : 2 * size - 1 - twice;
  }
  return i < 0 ? 0 : size - 1;
}

inline float normalized_channel(const char* p, const cudaChannelFormatDesc& format) {
  const auto in = [&](auto kind, float scale) {
    std::memcpy(&kind, p, sizeof kind);
    return fmaxf(static_cast<float>(kind) / scale, -1.0f);
  };
  if (format.f == cudaChannelFormatKindUnsigned)
    return format.x == 8 ? in(std::uint8_t{}, 255) : in(std::uint16_t{}, 65535);
  if (format.f == cudaChannelFormatKindSigned)
    return format.x == 8 ? in(std::int8_t{}, 127) : in(std::int16_t{}, 32767);
  return in(float{}, 1);
}

// Returns one texel as a T. Channels that the texture lacks are 0.
template <class T>
T texel_at(const Texture& texture, long x, long y, long z) {
  using Scalar = ScalarOf<T>;
  Scalar values[4] = {};
  const bool border = x < 0 || y < 0 || z < 0;
  const std::size_t bytes = static_cast<std::size_t>(texture.format.x) / 8;
  const char* p = texture.data;
  if (!border)
    p += (static_cast<std::size_t>(z) * texture.height + static_cast<std::size_t>(y)) *
             texture.pitch +
         static_cast<std::size_t>(x) * texture.texel;
  for (int channel = 0; channel < kChannels<T>; ++channel) {
    if (static_cast<std::size_t>(channel) >= texture.texel / bytes) break;
    if (border)
      values[channel] = static_cast<Scalar>(texture.description.borderColor[channel]);
    else if (texture.description.readMode == cudaReadModeNormalizedFloat)
      values[channel] = static_cast<Scalar>(
          normalized_channel(p + static_cast<std::size_t>(channel) * bytes, texture.format));
    else
      std::memcpy(&values[channel], p + static_cast<std::size_t>(channel) * bytes,
                  bytes < sizeof(Scalar) ? bytes : sizeof(Scalar));
  }
  T result;
  std::memcpy(static_cast<void*>(&result), values, sizeof result);
  return result;
}

// A position between two texels along one axis; `weight` is the second texel's share.
struct Place {
  long first, second;
  float weight;
};
inline Place place_along(const Texture& texture, int axis, float coordinate) {
  const std::size_t size = axis == 0 ? texture.width : axis == 1 ? texture.height : texture.depth;
  const cudaTextureDesc& how = texture.description;
  const bool normalized = how.normalizedCoords != 0;
  const cudaTextureAddressMode mode = how.addressMode[axis];
  float at = normalized ? coordinate * static_cast<float>(size) : coordinate;
  const bool linear = how.filterMode == cudaFilterModeLinear;
  if (linear) at -= 0.5f;
  // Limits huge coordinates and replaces NaN, so that the conversion to an integer is defined.
  const float limit = 4.0f * static_cast<float>(size) + 1e6f;
  at = fminf(fmaxf(at, -limit), limit);
  const float floor = floorf(at);
  const long first = static_cast<long>(floor);
  const float weight = linear ? floorf((at - floor) * 256.0f + 0.5f) / 256.0f : 0.0f;
  return {address(first, size, mode, normalized), address(first + 1, size, mode, normalized),
          weight};
}

template <class T>
T blend(const T& a, const T& b, float weight) {
  using Scalar = ScalarOf<T>;
  Scalar from[kChannels<T>], to[kChannels<T>];
  std::memcpy(from, static_cast<const void*>(&a), sizeof a);
  std::memcpy(to, static_cast<const void*>(&b), sizeof b);
  for (int i = 0; i < kChannels<T>; ++i)
    from[i] = static_cast<Scalar>((1.0f - weight) * static_cast<float>(from[i]) +
                                  weight * static_cast<float>(to[i]));
  T result;
  std::memcpy(static_cast<void*>(&result), from, sizeof result);
  return result;
}

constexpr Place kOnlyOne{0, 0, 0.0f};
template <class T>
T lookup(const Texture& texture, const Place& x, const Place& y = kOnlyOne,
         const Place& z = kOnlyOne) {
  const auto row = [&](long j, long k) {
    const T first = texel_at<T>(texture, x.first, j, k);
    return x.weight > 0 ? blend(first, texel_at<T>(texture, x.second, j, k), x.weight) : first;
  };
  const auto plane = [&](long k) {
    const T first = row(y.first, k);
    return y.weight > 0 ? blend(first, row(y.second, k), y.weight) : first;
  };
  const T first = plane(z.first);
  return z.weight > 0 ? blend(first, plane(z.second), z.weight) : first;
}

inline Place layer_place(const Texture& texture, int layer) {
  const long last = static_cast<long>(texture.depth) - 1;
  const long chosen = layer < 0 ? 0 : layer > last ? last : layer;
  return {chosen, chosen, 0.0f};
}

// Ends the grid, because a kernel accesses what is outside the surface.
[[noreturn]] void leave_surface(long x_bytes, long y, long z, const Texture& surface);

template <class T>
char* surface_place(cudaSurfaceObject_t object, int x_bytes, int y, int z,
                    cudaSurfaceBoundaryMode mode) {
  const Texture& surface = texture_of(object);
  const long width = static_cast<long>(surface.width * surface.texel);
  long x = x_bytes, row = y, slice = z;
  const bool inside = x >= 0 && x + static_cast<long>(sizeof(T)) <= width && row >= 0 &&
                      row < static_cast<long>(surface.height) && slice >= 0 &&
                      slice < static_cast<long>(surface.depth);
  if (!inside) {
    if (mode == cudaBoundaryModeTrap) leave_surface(x, row, slice, surface);
    if (mode == cudaBoundaryModeZero) return nullptr;
    const auto clamp = [](long v, long end) { return v < 0 ? 0 : v >= end ? end - 1 : v; };
    x = clamp(x / static_cast<long>(sizeof(T)), width / static_cast<long>(sizeof(T))) *
        static_cast<long>(sizeof(T));
    row = clamp(row, static_cast<long>(surface.height));
    slice = clamp(slice, static_cast<long>(surface.depth));
  }
  return surface.data +
         (static_cast<std::size_t>(slice) * surface.height + static_cast<std::size_t>(row)) *
             surface.pitch +
         static_cast<std::size_t>(x);
}

}  // namespace hostcuda

// ---- lookups ------------------------------------------------------------------------------------

template <class T>
T tex1Dfetch(cudaTextureObject_t object, int i) {
  const hostcuda::Texture& texture = hostcuda::texture_of(object);
  if (i < 0 || static_cast<std::size_t>(i) >= texture.width) return T{};
  return hostcuda::texel_at<T>(texture, i, 0, 0);
}
template <class T>
T tex1D(cudaTextureObject_t object, float x) {
  const hostcuda::Texture& texture = hostcuda::texture_of(object);
  return hostcuda::lookup<T>(texture, hostcuda::place_along(texture, 0, x));
}
template <class T>
T tex2D(cudaTextureObject_t object, float x, float y) {
  const hostcuda::Texture& texture = hostcuda::texture_of(object);
  return hostcuda::lookup<T>(texture, hostcuda::place_along(texture, 0, x),
                             hostcuda::place_along(texture, 1, y));
}
template <class T>
T tex3D(cudaTextureObject_t object, float x, float y, float z) {
  const hostcuda::Texture& texture = hostcuda::texture_of(object);
  return hostcuda::lookup<T>(texture, hostcuda::place_along(texture, 0, x),
                             hostcuda::place_along(texture, 1, y),
                             hostcuda::place_along(texture, 2, z));
}
template <class T>
T tex1DLayered(cudaTextureObject_t object, float x, int layer) {
  const hostcuda::Texture& texture = hostcuda::texture_of(object);
  return hostcuda::lookup<T>(texture, hostcuda::place_along(texture, 0, x), hostcuda::kOnlyOne,
                             hostcuda::layer_place(texture, layer));
}
template <class T>
T tex2DLayered(cudaTextureObject_t object, float x, float y, int layer) {
  const hostcuda::Texture& texture = hostcuda::texture_of(object);
  return hostcuda::lookup<T>(texture, hostcuda::place_along(texture, 0, x),
                             hostcuda::place_along(texture, 1, y),
                             hostcuda::layer_place(texture, layer));
}
// There are no mipmaps, so every level of detail is the level 0.
template <class T>
T tex1DLod(cudaTextureObject_t object, float x, float) {
  return tex1D<T>(object, x);
}
template <class T>
T tex2DLod(cudaTextureObject_t object, float x, float y, float) {
  return tex2D<T>(object, x, y);
}
template <class T>
T tex3DLod(cudaTextureObject_t object, float x, float y, float z, float) {
  return tex3D<T>(object, x, y, z);
}
template <class T>
T tex1DLayeredLod(cudaTextureObject_t object, float x, int layer, float) {
  return tex1DLayered<T>(object, x, layer);
}
template <class T>
T tex2DLayeredLod(cudaTextureObject_t object, float x, float y, int layer, float) {
  return tex2DLayered<T>(object, x, y, layer);
}
// Returns one channel of each of the four texels that a linear filter would mix.
template <class T>
T tex2Dgather(cudaTextureObject_t object, float x, float y, int channel = 0) {
  hostcuda::Texture texture = hostcuda::texture_of(object);
  texture.description.filterMode = cudaFilterModeLinear;
  const hostcuda::Place u = hostcuda::place_along(texture, 0, x);
  const hostcuda::Place v = hostcuda::place_along(texture, 1, y);
  using Scalar = hostcuda::ScalarOf<T>;
  Scalar values[4];
  const long corners[4][2] = {
      {u.first, v.second}, {u.second, v.second}, {u.second, v.first}, {u.first, v.first}};
  for (int i = 0; i < 4; ++i) {
    Scalar all[4];
    const T texel = hostcuda::texel_at<T>(texture, corners[i][0], corners[i][1], 0);
    std::memcpy(all, static_cast<const void*>(&texel), sizeof texel);
    values[i] = all[channel];
  }
  T result;
  std::memcpy(static_cast<void*>(&result), values, sizeof result);
  return result;
}

// ---- surfaces: x counts bytes -------------------------------------------------------------------

template <class T>
void surf3Dwrite(T value, cudaSurfaceObject_t object, int x, int y, int z,
                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  char* place = hostcuda::surface_place<T>(object, x, y, z, mode);
  if (place) std::memcpy(place, static_cast<const void*>(&value), sizeof value);
}
template <class T>
T surf3Dread(cudaSurfaceObject_t object, int x, int y, int z,
             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  T value{};
  const char* place = hostcuda::surface_place<T>(object, x, y, z, mode);
  if (place) std::memcpy(static_cast<void*>(&value), place, sizeof value);
  return value;
}
template <class T>
void surf2Dwrite(T value, cudaSurfaceObject_t object, int x, int y,
                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  surf3Dwrite(value, object, x, y, 0, mode);
}
template <class T>
T surf2Dread(cudaSurfaceObject_t object, int x, int y,
             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  return surf3Dread<T>(object, x, y, 0, mode);
}
template <class T>
void surf2Dread(T* value, cudaSurfaceObject_t object, int x, int y,
                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  *value = surf2Dread<T>(object, x, y, mode);
}
template <class T>
void surf1Dwrite(T value, cudaSurfaceObject_t object, int x,
                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  surf3Dwrite(value, object, x, 0, 0, mode);
}
template <class T>
T surf1Dread(cudaSurfaceObject_t object, int x,
             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  return surf3Dread<T>(object, x, 0, 0, mode);
}
