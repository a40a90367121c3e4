// Tests whether textures and surfaces do what the CUDA programming guide says.
#include "support.h"

namespace {

struct Settings {
  cudaTextureAddressMode address = cudaAddressModeClamp;
  cudaTextureFilterMode filter = cudaFilterModePoint;
  cudaTextureReadMode read = cudaReadModeElementType;
  bool normalized = false;
};

cudaTextureDesc description(const Settings& settings) {
  cudaTextureDesc d = {};
  for (auto& mode : d.addressMode) mode = settings.address;
  d.filterMode = settings.filter;
  d.readMode = settings.read;
  d.normalizedCoords = settings.normalized;
  return d;
}

cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

cudaTextureObject_t texture_of(const cudaResourceDesc& resource, const Settings& settings) {
  const cudaTextureDesc how = description(settings);
  cudaTextureObject_t texture = 0;
  EXPECT_CUDA(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  return texture;
}

__global__ void look_up(cudaTextureObject_t texture, const float2* at, float* out) {
  out[threadIdx.x] = tex2D<float>(texture, at[threadIdx.x].x, at[threadIdx.x].y);
}

// Looks up (x, y) in a texture of 4 x 2 texels with the values x + 10 y.
float value_at(const Settings& settings, float x, float y) {
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  EXPECT_CUDA(cudaMallocArray(&array, &format, 4, 2));
  const float texels[] = {0, 1, 2, 3, 10, 11, 12, 13};
  EXPECT_CUDA(cudaMemcpy2DToArray(array, 0, 0, texels, 16, 16, 2, cudaMemcpyHostToDevice));
  const cudaTextureObject_t texture = texture_of(resource_of(array), settings);
  DeviceArray<float2> at(1, float2{x, y});
  DeviceArray<float> out(1);
  look_up<<<1, 1>>>(texture, at, out);
  const float value = out.get()[0];
  EXPECT_CUDA(cudaDestroyTextureObject(texture));
  EXPECT_CUDA(cudaFreeArray(array));
  return value;
}

__global__ void look_up_levels(cudaTextureObject_t texture, float* out) {
  out[0] = tex2D<float>(texture, 1.5f, 1.5f);
  out[1] = tex2DLod<float>(texture, 1.5f, 1.5f, 0);
  out[2] = tex2DLod<float>(texture, 1.5f, 1.5f, 3);
}
TEST(Texture, HasOneLevelOfDetail) {
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  EXPECT_CUDA(cudaMallocArray(&array, &format, 2, 2));
  const float texels[] = {1, 2, 3, 4};
  EXPECT_CUDA(cudaMemcpy2DToArray(array, 0, 0, texels, 8, 8, 2, cudaMemcpyHostToDevice));
  const cudaTextureObject_t texture = texture_of(resource_of(array), {});
  DeviceArray<float> out(3);
  look_up_levels<<<1, 1>>>(texture, out);
  EXPECT_EQ((std::vector<float>{4, 4, 4}), out.get());
  EXPECT_CUDA(cudaDestroyTextureObject(texture));
  EXPECT_CUDA(cudaFreeArray(array));
}

TEST(Texture, PointsAndAddressModes) {
  EXPECT_EQ(12, value_at({}, 2.9f, 1.1f));
  EXPECT_EQ(13, value_at({}, 9.0f, 5.0f));
  EXPECT_EQ(0, value_at({}, -3.0f, -1.0f));
  EXPECT_EQ(0, value_at({cudaAddressModeBorder}, 4.5f, 0.5f));
  const auto normalized = [](cudaTextureAddressMode mode, float x) {
    return value_at({mode, cudaFilterModePoint, cudaReadModeElementType, true}, x, 0.1f);
  };
  EXPECT_EQ(1, normalized(cudaAddressModeWrap, 1.3f));
  EXPECT_EQ(3, normalized(cudaAddressModeWrap, -0.1f));
  EXPECT_EQ(2, normalized(cudaAddressModeMirror, 1.3f));
  EXPECT_EQ(3, normalized(cudaAddressModeClamp, 1.3f));
}

TEST(Texture, LinearFilterBlendsNeighbours) {
  const Settings linear{cudaAddressModeClamp, cudaFilterModeLinear};
  EXPECT_EQ(1, value_at(linear, 1.5f, 0.5f));
  EXPECT_EQ(1.5f, value_at(linear, 2.0f, 0.5f));
  EXPECT_EQ(6.25f, value_at(linear, 1.75f, 1.0f));
  EXPECT_EQ(0, value_at(linear, 0.0f, 0.0f));
  EXPECT_EQ(0.00390625f, value_at(linear, 0.5f + 0.004f, 0.5f)) << "8 bits of fraction";
}

__global__ void fetch(cudaTextureObject_t bytes, cudaTextureObject_t pairs, float4* out,
                      uint2* pairs_out) {
  out[threadIdx.x] = tex1Dfetch<float4>(bytes, threadIdx.x);
  pairs_out[threadIdx.x] = tex2D<uint2>(pairs, threadIdx.x, 1);
}

TEST(Texture, FormatsOfLinearAndPitchedMemory) {
  DeviceArray<uchar4> bytes(3, uchar4{255, 0, 51, 102});
  DeviceArray<uint2> pairs(2 * 64, uint2{7, 8});
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {bytes, cudaCreateChannelDesc<uchar4>(), bytes.bytes()};
  const cudaTextureObject_t first = texture_of(
      resource, {cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeNormalizedFloat});
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {pairs, cudaCreateChannelDesc<uint2>(), 4, 2, 64 * sizeof(uint2)};
  cudaTextureObject_t second = texture_of(resource, {});
  DeviceArray<float4> out(4);
  DeviceArray<uint2> pairs_out(4);
  fetch<<<1, 4>>>(first, second, out, pairs_out);
  EXPECT_EQ(1.0f, out.get()[2].x);
  EXPECT_EQ(0.4f, out.get()[2].w);
  EXPECT_EQ(0.0f, out.get()[3].w) << "past the end";
  EXPECT_EQ(8u, pairs_out.get()[3].y);
  const auto linear = description({cudaAddressModeClamp, cudaFilterModeLinear});
  EXPECT_EQ(cudaErrorInvalidFilterSetting,
            cudaCreateTextureObject(&second, &resource, &linear, nullptr));
  cudaGetLastError();
}

__global__ void transpose(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
  const int x = threadIdx.x, y = threadIdx.y;
  const float value = surf2Dread<float>(from, x * sizeof(float), y);
  surf2Dwrite(value, to, y * sizeof(float), x);
  surf2Dwrite(value, to, 999, 0, cudaBoundaryModeZero);  // writes nothing outside the surface
}

TEST(Surface, ReadsAndWrites) {
  const cudaChannelFormatDesc format =
      cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaArray_t arrays[2];
  cudaSurfaceObject_t surfaces[2];
  for (int i = 0; i < 2; ++i) {
    EXPECT_CUDA(cudaMallocArray(&arrays[i], &format, 3, 3, cudaArraySurfaceLoadStore));
    const cudaResourceDesc resource = resource_of(arrays[i]);
    EXPECT_CUDA(cudaCreateSurfaceObject(&surfaces[i], &resource));
  }
  const float values[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_CUDA(cudaMemcpyToArray(arrays[0], 0, 0, values, sizeof values, cudaMemcpyHostToDevice));
  transpose<<<1, dim3(3, 3)>>>(surfaces[0], surfaces[1]);
  float back[9];
  EXPECT_CUDA(cudaMemcpy2DFromArray(back, 12, arrays[1], 0, 0, 12, 3, cudaMemcpyDeviceToHost));
  EXPECT_EQ(2, back[3]);
  EXPECT_EQ(7, back[2]);
  for (int i = 0; i < 2; ++i) {
    EXPECT_CUDA(cudaDestroySurfaceObject(surfaces[i]));
    EXPECT_CUDA(cudaFreeArray(arrays[i]));
  }
}

__global__ void look_into(cudaTextureObject_t texture, float* out) {
  out[0] = tex3D<float>(texture, 1.5f, 0.5f, 1.5f);
  out[1] = tex3D<float>(texture, 1.5f, 1.5f, 1.0f);
}

TEST(Texture, ThreeDimensions) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  EXPECT_CUDA(cudaMalloc3DArray(&array, &format, make_cudaExtent(2, 2, 2)));
  float texels[8];
  for (int i = 0; i < 8; ++i)
    texels[i] = static_cast<float>(i % 2 + 10 * (i / 2 % 2) + 100 * (i / 4));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(texels, 8, 2, 2);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(2, 2, 2);
  copy.kind = cudaMemcpyHostToDevice;
  EXPECT_CUDA(cudaMemcpy3D(&copy));
  const cudaTextureObject_t texture =
      texture_of(resource_of(array), {cudaAddressModeClamp, cudaFilterModeLinear});
  DeviceArray<float> out(2);
  look_into<<<1, 1>>>(texture, out);
  EXPECT_EQ((std::vector<float>{101, 61}), out.get());
  EXPECT_CUDA(cudaDestroyTextureObject(texture));
  EXPECT_CUDA(cudaFreeArray(array));
}

// Looks at texel (1, 0) of each face of a cube of two by two texels.
__global__ void look_around(cudaTextureObject_t texture, float* out) {
  constexpr float kU = 0.5f, kV = -0.5f;
  out[0] = texCubemap<float>(texture, 1, -kV, -kU);
  out[1] = texCubemap<float>(texture, -1, -kV, kU);
  out[2] = texCubemap<float>(texture, kU, 1, kV);
  out[3] = texCubemap<float>(texture, kU, -1, -kV);
  out[4] = texCubemap<float>(texture, kU, -kV, 1);
  out[5] = texCubemap<float>(texture, -2 * kU, -2 * kV, -2);
  out[6] = texCubemap<float>(texture, 0, 0, 1);  // the middle of a face
  out[7] = texCubemapLayered<float>(texture, 1, -kV, -kU, 1);
}

TEST(Texture, CubeMaps) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  EXPECT_EQ(cudaErrorInvalidValue,
            cudaMalloc3DArray(&array, &format, make_cudaExtent(2, 2, 5), cudaArrayCubemap));
  EXPECT_EQ(cudaErrorInvalidValue,
            cudaMalloc3DArray(&array, &format, make_cudaExtent(2, 4, 6), cudaArrayCubemap));
  EXPECT_CUDA(cudaMalloc3DArray(&array, &format, make_cudaExtent(2, 2, 12),
                                cudaArrayCubemap | cudaArrayLayered));
  std::vector<float> texels(48);
  for (int i = 0; i < 48; ++i)
    texels[i] = static_cast<float>(i % 2 + 10 * (i / 2 % 2) + 100 * (i / 4));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(texels.data(), 8, 2, 2);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(2, 2, 12);
  copy.kind = cudaMemcpyHostToDevice;
  EXPECT_CUDA(cudaMemcpy3D(&copy));
  cudaTextureDesc description = {};
  description.filterMode = cudaFilterModeLinear;
  description.normalizedCoords = 1;
  const cudaResourceDesc resource = resource_of(array);
  cudaTextureObject_t texture = 0;
  EXPECT_CUDA(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  DeviceArray<float> out(8);
  look_around<<<1, 1>>>(texture, out);
  EXPECT_EQ((std::vector<float>{1, 101, 201, 301, 401, 501, 405.5, 601}), out.get());
  EXPECT_CUDA(cudaDestroyTextureObject(texture));
  description.seamlessCubemap = 1;
  EXPECT_EQ(cudaErrorNotSupported,
            cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  EXPECT_CUDA(cudaFreeArray(array));
  cudaGetLastError();
}

TEST(Texture, ArraysAreCopiedInAStream) {
  const Stream stream;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr, other = nullptr;
  EXPECT_CUDA(cudaMallocArray(&array, &format, 2, 2));
  EXPECT_CUDA(cudaMallocArray(&other, &format, 2, 2));
  const std::vector<float> values{1, 2, 3, 4};
  std::vector<float> back(4);
  EXPECT_CUDA(cudaMemcpy2DToArrayAsync(array, 0, 0, values.data(), 8, 8, 2, cudaMemcpyHostToDevice,
                                       stream));
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_CUDA(cudaMemcpy2DArrayToArray(other, 0, 0, array, 0, 0, 8, 2));
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_CUDA(cudaMemcpy2DFromArrayAsync(back.data(), 8, other, 0, 0, 8, 2, cudaMemcpyDeviceToHost,
                                         stream));
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_EQ(values, back);
  cudaChannelFormatDesc got{};
  EXPECT_CUDA(cudaGetChannelDesc(&got, array));
  EXPECT_EQ(32, got.x);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description{}, found{};
  description.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t texture = 0;
  EXPECT_CUDA(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  EXPECT_CUDA(cudaGetTextureObjectTextureDesc(&found, texture));
  EXPECT_EQ(cudaFilterModeLinear, found.filterMode);
  EXPECT_CUDA(cudaDestroyTextureObject(texture));
  for (cudaArray_t one : {array, other}) EXPECT_CUDA(cudaFreeArray(one));
}

}  // namespace
