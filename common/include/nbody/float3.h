// Arithmetic on float3, component by component.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

namespace nbody {

__host__ __device__ inline float3 operator+(float3 a, float3 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
__host__ __device__ inline float3 operator-(float3 a, float3 b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
__host__ __device__ inline float3 operator*(float s, float3 a) {
  return {s * a.x, s * a.y, s * a.z};
}
__host__ __device__ inline float3& operator+=(float3& a, float3 b) { return a = a + b; }
// Returns s a + b, each component rounded only once.
__host__ __device__ inline float3 fma(float s, float3 a, float3 b) {
  return {fmaf(s, a.x, b.x), fmaf(s, a.y, b.y), fmaf(s, a.z, b.z)};
}
__host__ __device__ inline float3 abs(float3 a) { return {fabsf(a.x), fabsf(a.y), fabsf(a.z)}; }
__host__ __device__ inline float3 min(float3 a, float3 b) {
  return {fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z)};
}
__host__ __device__ inline float3 max(float3 a, float3 b) {
  return {fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z)};
}
// Returns a . b + more. Because the sum starts with `more`, each multiplication and its addition
// are one fma.
__host__ __device__ inline float dot(float3 a, float3 b, float more = 0) {
  return fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, more)));
}
__host__ __device__ inline float length(float3 a) { return sqrtf(dot(a, a)); }
__host__ __device__ inline float largest(float3 a) { return fmaxf(fmaxf(a.x, a.y), a.z); }
__host__ __device__ inline float3 xyz(float4 a) { return {a.x, a.y, a.z}; }

}  // namespace nbody
