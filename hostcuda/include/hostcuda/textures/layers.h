// hostcuda: lookups in cube maps, and surfaces that have layers or are cube maps.
//
// A cube map consists of six square faces, which are stored like layers. A linear filter does not
// mix texels of two faces, as on a GPU without seamless filtering.
#pragma once

#include "../texture.h"

constexpr unsigned cudaTextureType1D = 1, cudaTextureType2D = 2, cudaTextureType3D = 3,
                   cudaTextureTypeCubemap = 0x0c, cudaTextureType1DLayered = 0xf1,
                   cudaTextureType2DLayered = 0xf2, cudaTextureTypeCubemapLayered = 0xfc;
constexpr unsigned cudaSurfaceType1D = 1, cudaSurfaceType2D = 2, cudaSurfaceType3D = 3,
                   cudaSurfaceTypeCubemap = 0x0c, cudaSurfaceType1DLayered = 0xf1,
                   cudaSurfaceType2DLayered = 0xf2, cudaSurfaceTypeCubemapLayered = 0xfc;

namespace hostcuda {

// A face of a cube (+x, -x, +y, -y, +z, -z) and the coordinates in it, from 0 to 1.
struct CubePlace {
  int face;
  float s, t;
};
inline CubePlace cube_place(float x, float y, float z) {
  const float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
  int face;
  float s, t, m;
  if (az >= ax && az >= ay) {
    face = z >= 0 ? 4 : 5;
    m = az, s = z >= 0 ? x : -x, t = -y;
  } else if (ay >= ax) {
    face = y >= 0 ? 2 : 3;
    m = ay, s = x, t = y >= 0 ? z : -z;
  } else {
    face = x >= 0 ? 0 : 1;
    m = ax, s = x >= 0 ? -z : z, t = -y;
  }
  return {face, (s / m + 1) / 2, (t / m + 1) / 2};
}

template <class T>
T cube_lookup(cudaTextureObject_t object, float x, float y, float z, int layer) {
  Texture texture = texture_of(object);
  texture.description.normalizedCoords = 1;
  texture.description.addressMode[0] = texture.description.addressMode[1] = cudaAddressModeClamp;
  const CubePlace at = cube_place(x, y, z);
  return lookup<T>(texture, place_along(texture, 0, at.s), place_along(texture, 1, at.t),
                   layer_place(texture, 6 * layer + at.face));
}

}  // namespace hostcuda

template <class T>
T texCubemap(cudaTextureObject_t object, float x, float y, float z) {
  return hostcuda::cube_lookup<T>(object, x, y, z, 0);
}
template <class T>
void texCubemap(T* value, cudaTextureObject_t object, float x, float y, float z) {
  *value = texCubemap<T>(object, x, y, z);
}
template <class T>
T texCubemapLayered(cudaTextureObject_t object, float x, float y, float z, int layer) {
  return hostcuda::cube_lookup<T>(object, x, y, z, layer);
}

// Surfaces: x counts bytes.
#define HOSTCUDA_LAYERED_SURFACE(name, Place, ...)                        \
  template <class T>                                                      \
  void name##write(T value, cudaSurfaceObject_t object, __VA_ARGS__,      \
                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    surf3Dwrite(value, object, Place, mode);                              \
  }                                                                       \
  template <class T>                                                      \
  T name##read(cudaSurfaceObject_t object, __VA_ARGS__,                   \
               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {     \
    return surf3Dread<T>(object, Place, mode);                            \
  }                                                                       \
  template <class T>                                                      \
  void name##read(T* value, cudaSurfaceObject_t object, __VA_ARGS__,      \
                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {  \
    *value = surf3Dread<T>(object, Place, mode);                          \
  }
#define HOSTCUDA_PLACE(...) __VA_ARGS__
HOSTCUDA_LAYERED_SURFACE(surf1DLayered, HOSTCUDA_PLACE(x, 0, layer), int x, int layer)
HOSTCUDA_LAYERED_SURFACE(surf2DLayered, HOSTCUDA_PLACE(x, y, layer), int x, int y, int layer)
HOSTCUDA_LAYERED_SURFACE(surfCubemap, HOSTCUDA_PLACE(x, y, face), int x, int y, int face)
HOSTCUDA_LAYERED_SURFACE(surfCubemapLayered, HOSTCUDA_PLACE(x, y, layer_face), int x, int y,
                         int layer_face)
#undef HOSTCUDA_LAYERED_SURFACE
#undef HOSTCUDA_PLACE
