// hostcuda: the parts of the CUDA samples' helper_math.h that programs use (arithmetic on float,
// int and uint vectors).
#pragma once

#include <cmath>

#include "cuda_runtime.h"

typedef unsigned int uint;
typedef unsigned short ushort;

#define HOSTCUDA_HD inline __host__ __device__
HOSTCUDA_HD float lerp(float a, float b, float t) { return a + t * (b - a); }
HOSTCUDA_HD float clamp(float v, float low, float high) { return fmaxf(low, fminf(v, high)); }
HOSTCUDA_HD int clamp(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
HOSTCUDA_HD uint clamp(uint v, uint low, uint high) { return v < low ? low : v > high ? high : v; }

// Each macro computes component c of a result; HOSTCUDA_OF2 to OF4 apply it to all components.
#define HOSTCUDA_ALL(c) s
#define HOSTCUDA_MINUS(c) -a.c
#define HOSTCUDA_SUM(c) a.c + b.c
#define HOSTCUDA_DIFFERENCE(c) a.c - b.c
#define HOSTCUDA_PRODUCT(c) a.c* b.c
#define HOSTCUDA_QUOTIENT(c) a.c / b.c
#define HOSTCUDA_LEAST(c) a.c < b.c ? a.c : b.c
#define HOSTCUDA_LARGEST(c) a.c > b.c ? a.c : b.c
#define HOSTCUDA_FLOOR(c) floorf(a.c)
#define HOSTCUDA_SIZE(c) fabsf(a.c)
#define HOSTCUDA_OF2(f) f(x), f(y)
#define HOSTCUDA_OF3(f) f(x), f(y), f(z)
#define HOSTCUDA_OF4(f) f(x), f(y), f(z), f(w)

#define HOSTCUDA_OPERATOR(V, S, OF, sign, RESULT)                      \
  HOSTCUDA_HD V operator sign(V a, V b) { return V{OF(RESULT)}; }      \
  HOSTCUDA_HD V operator sign(V a, S b) { return a sign make_##V(b); } \
  HOSTCUDA_HD V operator sign(S a, V b) { return make_##V(a) sign b; } \
  HOSTCUDA_HD void operator sign##=(V& a, V b) { a = a sign b; }       \
  HOSTCUDA_HD void operator sign##=(V& a, S b) { a = a sign b; }
#define HOSTCUDA_VECTOR(V, S, OF)                                            \
  HOSTCUDA_HD V make_##V(S s) { return V{OF(HOSTCUDA_ALL)}; }                \
  HOSTCUDA_OPERATOR(V, S, OF, +, HOSTCUDA_SUM)                               \
  HOSTCUDA_OPERATOR(V, S, OF, -, HOSTCUDA_DIFFERENCE)                        \
  HOSTCUDA_OPERATOR(V, S, OF, *, HOSTCUDA_PRODUCT)                           \
  HOSTCUDA_OPERATOR(V, S, OF, /, HOSTCUDA_QUOTIENT)                          \
  HOSTCUDA_HD V min(V a, V b) { return V{OF(HOSTCUDA_LEAST)}; }              \
  HOSTCUDA_HD V max(V a, V b) { return V{OF(HOSTCUDA_LARGEST)}; }            \
  HOSTCUDA_HD V clamp(V v, V low, V high) { return max(low, min(v, high)); } \
  HOSTCUDA_HD V clamp(V v, S low, S high) { return clamp(v, make_##V(low), make_##V(high)); }
#define HOSTCUDA_FLOATS(V, OF)                                      \
  HOSTCUDA_VECTOR(V, float, OF)                                     \
  HOSTCUDA_HD V operator-(V a) { return V{OF(HOSTCUDA_MINUS)}; }    \
  HOSTCUDA_HD V fminf(V a, V b) { return min(a, b); }               \
  HOSTCUDA_HD V fmaxf(V a, V b) { return max(a, b); }               \
  HOSTCUDA_HD V floorf(V a) { return V{OF(HOSTCUDA_FLOOR)}; }       \
  HOSTCUDA_HD V fabs(V a) { return V{OF(HOSTCUDA_SIZE)}; }          \
  HOSTCUDA_HD V lerp(V a, V b, float t) { return a + t * (b - a); } \
  HOSTCUDA_HD float length(V v) { return sqrtf(dot(v, v)); }        \
  HOSTCUDA_HD V normalize(V v) { return v * rsqrtf(dot(v, v)); }    \
  HOSTCUDA_HD V reflect(V i, V n) { return i - 2.0f * n * dot(n, i); }

HOSTCUDA_HD float dot(float2 a, float2 b) { return a.x * b.x + a.y * b.y; }
HOSTCUDA_HD float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
HOSTCUDA_HD float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
HOSTCUDA_FLOATS(float2, HOSTCUDA_OF2)
HOSTCUDA_FLOATS(float3, HOSTCUDA_OF3)
HOSTCUDA_FLOATS(float4, HOSTCUDA_OF4)
HOSTCUDA_VECTOR(int2, int, HOSTCUDA_OF2)
HOSTCUDA_VECTOR(int3, int, HOSTCUDA_OF3)
HOSTCUDA_VECTOR(int4, int, HOSTCUDA_OF4)
HOSTCUDA_VECTOR(uint2, uint, HOSTCUDA_OF2)
HOSTCUDA_VECTOR(uint3, uint, HOSTCUDA_OF3)
HOSTCUDA_VECTOR(uint4, uint, HOSTCUDA_OF4)

HOSTCUDA_HD float3 cross(float3 a, float3 b) {
  return float3{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
HOSTCUDA_HD float2 make_float2(float3 v) { return float2{v.x, v.y}; }
HOSTCUDA_HD float3 make_float3(float2 v, float z = 0) { return float3{v.x, v.y, z}; }
HOSTCUDA_HD float3 make_float3(float4 v) { return float3{v.x, v.y, v.z}; }
HOSTCUDA_HD float4 make_float4(float3 v, float w = 0) { return float4{v.x, v.y, v.z, w}; }

#undef HOSTCUDA_FLOATS
#undef HOSTCUDA_VECTOR
#undef HOSTCUDA_OPERATOR
#undef HOSTCUDA_ALL
#undef HOSTCUDA_MINUS
#undef HOSTCUDA_SUM
#undef HOSTCUDA_DIFFERENCE
#undef HOSTCUDA_PRODUCT
#undef HOSTCUDA_QUOTIENT
#undef HOSTCUDA_LEAST
#undef HOSTCUDA_LARGEST
#undef HOSTCUDA_FLOOR
#undef HOSTCUDA_SIZE
#undef HOSTCUDA_OF2
#undef HOSTCUDA_OF3
#undef HOSTCUDA_OF4
#undef HOSTCUDA_HD
