// hostcuda: CUDA's mathematical and bit functions that <math.h> lacks.
//
// Results come from the host's libm: they are within CUDA's documented error bounds, but not
// bit-identical. The fast intrinsics (__fdividef, __expf, ...) are as accurate as the ordinary
// functions here, so a kernel that needs this accuracy works here but may fail on a GPU.
#pragma once

#include <math.h>  // not <cmath>: as in CUDA, sqrt(float) etc. must be global
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "types.h"

HOSTCUDA_FUNCTION float rsqrtf(float x) { return 1.0f / sqrtf(x); }
HOSTCUDA_FUNCTION double rsqrt(double x) { return 1.0 / sqrt(x); }
// glibc 2.42 and later define these functions. glibc's functions round correctly but take four
// times as long, and most kernels call them in the innermost loop. Simple expressions therefore
// replace glibc's functions.
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 42)
extern "C" {
inline __attribute__((gnu_inline)) float rsqrtf(float x) noexcept { return 1.0f / sqrtf(x); }
inline __attribute__((gnu_inline)) double rsqrt(double x) noexcept { return 1.0 / sqrt(x); }
}
#endif
#endif
HOSTCUDA_FUNCTION float rcbrtf(float x) { return 1.0f / cbrtf(x); }
// The squares of floats neither overflow nor underflow in double.
HOSTCUDA_FUNCTION float norm3df(float a, float b, float c) {
  return static_cast<float>(sqrt(double{a} * a + double{b} * b + double{c} * c));
}
HOSTCUDA_FUNCTION float rnorm3df(float a, float b, float c) {
  return static_cast<float>(1.0 / sqrt(double{a} * a + double{b} * b + double{c} * c));
}

// These functions round to nearest. __frsqrt_rn rounds twice (to double, then to float), so its
// result differs from the correctly rounded value in rare half-way cases.
HOSTCUDA_FUNCTION float __frsqrt_rn(float x) { return static_cast<float>(1.0 / sqrt(double{x})); }
HOSTCUDA_FUNCTION float __fsqrt_rn(float x) { return sqrtf(x); }
HOSTCUDA_FUNCTION float __frcp_rn(float x) { return 1.0f / x; }
HOSTCUDA_FUNCTION float __fadd_rn(float a, float b) { return a + b; }
HOSTCUDA_FUNCTION float __fsub_rn(float a, float b) { return a - b; }
HOSTCUDA_FUNCTION float __fmul_rn(float a, float b) { return a * b; }
HOSTCUDA_FUNCTION float __fdiv_rn(float a, float b) { return a / b; }
HOSTCUDA_FUNCTION float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
HOSTCUDA_FUNCTION double __dadd_rn(double a, double b) { return a + b; }
HOSTCUDA_FUNCTION double __dsub_rn(double a, double b) { return a - b; }
HOSTCUDA_FUNCTION double __dmul_rn(double a, double b) { return a * b; }
HOSTCUDA_FUNCTION double __ddiv_rn(double a, double b) { return a / b; }
HOSTCUDA_FUNCTION double __dsqrt_rn(double x) { return sqrt(x); }
HOSTCUDA_FUNCTION double __drcp_rn(double x) { return 1.0 / x; }
HOSTCUDA_FUNCTION double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

HOSTCUDA_FUNCTION float __fdividef(float a, float b) { return a / b; }
HOSTCUDA_FUNCTION float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
// These are macros, because glibc's <math.h> declares functions with the same names.
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

HOSTCUDA_FUNCTION float __int_as_float(int i) { return hostcuda::bits_as<float>(i); }
HOSTCUDA_FUNCTION int __float_as_int(float f) { return hostcuda::bits_as<int>(f); }
HOSTCUDA_FUNCTION float __uint_as_float(unsigned i) { return hostcuda::bits_as<float>(i); }
HOSTCUDA_FUNCTION unsigned __float_as_uint(float f) { return hostcuda::bits_as<unsigned>(f); }
HOSTCUDA_FUNCTION double __longlong_as_double(long long i) { return hostcuda::bits_as<double>(i); }
HOSTCUDA_FUNCTION long long __double_as_longlong(double f) {
  return hostcuda::bits_as<long long>(f);
}
HOSTCUDA_FUNCTION float __double2float_rn(double d) { return static_cast<float>(d); }
HOSTCUDA_FUNCTION float __int2float_rn(int i) { return static_cast<float>(i); }

HOSTCUDA_FUNCTION int __popc(unsigned x) { return __builtin_popcount(x); }
HOSTCUDA_FUNCTION int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
HOSTCUDA_FUNCTION int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
HOSTCUDA_FUNCTION int __clzll(long long x) {
  return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64;
}
HOSTCUDA_FUNCTION int __ffs(int x) { return __builtin_ffs(x); }
HOSTCUDA_FUNCTION int __ffsll(long long x) { return __builtin_ffsll(x); }
HOSTCUDA_FUNCTION unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (x >> bit & 1u) << (31 - bit);
  return reversed;
}

// As in CUDA, global min and max accept two values of one type, or int and unsigned, and return the
// common type. If one of two floats or doubles is NaN, min and max return the other value.
#define HOSTCUDA_MIN_MAX(A, B, Result)                                               \
  HOSTCUDA_FUNCTION Result min(A a, B b) {                                           \
    return static_cast<Result>(a) < static_cast<Result>(b) ? static_cast<Result>(a)  \
                                                           : static_cast<Result>(b); \
  }                                                                                  \
  HOSTCUDA_FUNCTION Result max(A a, B b) {                                           \
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
HOSTCUDA_FUNCTION float min(float a, float b) { return fminf(a, b); }
HOSTCUDA_FUNCTION float max(float a, float b) { return fmaxf(a, b); }
HOSTCUDA_FUNCTION double min(double a, double b) { return fmin(a, b); }
HOSTCUDA_FUNCTION double max(double a, double b) { return fmax(a, b); }
HOSTCUDA_FUNCTION double min(float a, double b) { return fmin(double{a}, b); }
HOSTCUDA_FUNCTION double max(float a, double b) { return fmax(double{a}, b); }
HOSTCUDA_FUNCTION double min(double a, float b) { return fmin(a, double{b}); }
HOSTCUDA_FUNCTION double max(double a, float b) { return fmax(a, double{b}); }
