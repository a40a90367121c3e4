// hostcuda: CUDA's mathematical and bit functions that <math.h> lacks.
//
// Results are those of the host's libm: within CUDA's documented error bounds, not bit-identical.
// The fast intrinsics (__fdividef, __expf, ...) are the accurate functions here, so a kernel that
// survives only with accurate arithmetic passes on the emulator and may fail on a GPU.
#pragma once

#include <math.h>  // not <cmath>: CUDA has float overloads of sqrt and friends in the global scope
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "types.h"

// Programs define these for their host code (helper_math.h does). A template gives way to a
// function.
#define HOSTCUDA_YIELDS   \
  template <class = void> \
  inline
HOSTCUDA_YIELDS float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
static inline float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
static inline float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }

// Rounded to nearest. Division and root of a float, done in double and rounded once more, can
// differ from the correctly rounded value in rare half-way cases only.
static inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / sqrt(double{x})); }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __dsqrt_rn(double x) { return sqrt(x); }
static inline double __drcp_rn(double x) { return 1.0 / x; }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

static inline float __fdividef(float a, float b) { return a / b; }
static inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
// Macros, because glibc's <math.h> declares functions of these very names.
#define __expf(x) expf(x)
#define __exp10f(x) exp10f(x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __sincosf(x, s, c) sincosf(x, s, c)
#define __powf(x, y) powf(x, y)

namespace hostcuda {
template <class To, class From>
inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From), "a reinterpretation keeps the size");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}
}  // namespace hostcuda

static inline float __int_as_float(int i) { return hostcuda::bits_as<float>(i); }
static inline int __float_as_int(float f) { return hostcuda::bits_as<int>(f); }
static inline float __uint_as_float(unsigned i) { return hostcuda::bits_as<float>(i); }
static inline unsigned __float_as_uint(float f) { return hostcuda::bits_as<unsigned>(f); }
static inline double __longlong_as_double(long long i) { return hostcuda::bits_as<double>(i); }
static inline long long __double_as_longlong(double f) { return hostcuda::bits_as<long long>(f); }
static inline int __float2int_rn(float f) { return static_cast<int>(rintf(f)); }
static inline int __float2int_rz(float f) { return static_cast<int>(f); }
static inline int __float2int_rd(float f) { return static_cast<int>(floorf(f)); }
static inline float __double2float_rn(double d) { return static_cast<float>(d); }
static inline float __int2float_rn(int i) { return static_cast<float>(i); }

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
static inline int __clzll(long long x) {
  return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64;
}
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (x >> bit & 1u) << (31 - bit);
  return reversed;
}

// As in CUDA: the global min and max take equal types or int with unsigned, and return the common
// type. For float and double they return the operand that is not NaN.
#define HOSTCUDA_MIN_MAX(A, B, Result)                                               \
  HOSTCUDA_YIELDS Result min(A a, B b) {                                             \
    return static_cast<Result>(a) < static_cast<Result>(b) ? static_cast<Result>(a)  \
                                                           : static_cast<Result>(b); \
  }                                                                                  \
  HOSTCUDA_YIELDS Result max(A a, B b) {                                             \
    return static_cast<Result>(a) < static_cast<Result>(b) ? static_cast<Result>(b)  \
                                                           : static_cast<Result>(a); \
  }
HOSTCUDA_MIN_MAX(int, int, int)
HOSTCUDA_MIN_MAX(unsigned, unsigned, unsigned)
HOSTCUDA_MIN_MAX(int, unsigned, unsigned)
HOSTCUDA_MIN_MAX(unsigned, int, unsigned)
HOSTCUDA_MIN_MAX(long, long, long)
HOSTCUDA_MIN_MAX(unsigned long, unsigned long, unsigned long)
HOSTCUDA_MIN_MAX(long, unsigned long, unsigned long)
HOSTCUDA_MIN_MAX(unsigned long, long, unsigned long)
HOSTCUDA_MIN_MAX(long long, long long, long long)
HOSTCUDA_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
#undef HOSTCUDA_MIN_MAX
HOSTCUDA_YIELDS float min(float a, float b) { return fminf(a, b); }
HOSTCUDA_YIELDS float max(float a, float b) { return fmaxf(a, b); }
HOSTCUDA_YIELDS double min(double a, double b) { return fmin(a, b); }
HOSTCUDA_YIELDS double max(double a, double b) { return fmax(a, b); }
HOSTCUDA_YIELDS double min(float a, double b) { return fmin(double{a}, b); }
HOSTCUDA_YIELDS double max(float a, double b) { return fmax(double{a}, b); }
HOSTCUDA_YIELDS double min(double a, float b) { return fmin(a, double{b}); }
HOSTCUDA_YIELDS double max(double a, float b) { return fmax(a, double{b}); }
#undef HOSTCUDA_YIELDS
