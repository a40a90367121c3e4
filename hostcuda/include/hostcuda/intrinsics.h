// hostcuda: smaller device functions (loads and stores with a cache policy, rounding, clocks).
#pragma once

#include <fenv.h>

#include "device_functions.h"
#include "integers/dpx.h"
#include "integers/simd.h"
#include "integers/words.h"
#include "math.h"
#include "reals/special_functions.h"

// ---- loads and stores with a cache policy: the emulator has no such cache -----------------------

#define HOSTCUDA_LOAD(name)                 \
  template <class Value>                    \
  inline Value name(const Value* address) { \
    return *address;                        \
  }
#define HOSTCUDA_STORE(name)                      \
  template <class Value>                          \
  inline void name(Value* address, Value value) { \
    *address = value;                             \
  }
HOSTCUDA_LOAD(__ldca)
HOSTCUDA_LOAD(__ldcs)
HOSTCUDA_LOAD(__ldlu)
HOSTCUDA_STORE(__stwb)
HOSTCUDA_STORE(__stcg)
HOSTCUDA_STORE(__stcs)
HOSTCUDA_STORE(__stwt)
#undef HOSTCUDA_LOAD

// These loads see what other blocks write, so threads use them to poll.
template <class Value>
inline Value __ldcg(const Value* address) {
  hostcuda::note_spin();
  asm volatile("" ::: "memory");  // forces a load; a volatile vector could not be copied
  return *address;
}
template <class Value>
inline Value __ldcv(const Value* address) {
  return __ldcg(address);
}
#undef HOSTCUDA_STORE

// ---- rounding: nearest, toward zero, down, up ---------------------------------------------------
// A single operation on floats is nearly always exact if it is computed in double. The result is
// then rounded as requested.

namespace hostcuda {
inline float rounded_down(double exact) {
  const float nearest = static_cast<float>(exact);
  return static_cast<double>(nearest) > exact ? nextafterf(nearest, -HUGE_VALF) : nearest;
}
inline float rounded_up(double exact) {
  const float nearest = static_cast<float>(exact);
  return static_cast<double>(nearest) < exact ? nextafterf(nearest, HUGE_VALF) : nearest;
}
// Computes in another rounding mode. `volatile` keeps the compiler from moving the operation before
// the line that sets this mode or after the line that restores the old one.
template <class Real, class Operation>
inline Real rounded(int mode, Real a, Real b, const Operation& operation) {
  volatile Real x = a, y = b;
  fesetround(mode);
  volatile Real result = operation(x, y);
  fesetround(FE_TONEAREST);
  return result;
}
template <class Real, class Integer>
inline Real rounded_number(int mode, Integer i) {
  volatile Integer x = i;
  fesetround(mode);
  volatile Real result = static_cast<Real>(x);
  fesetround(FE_TONEAREST);
  return result;
}
inline float rounded_to_zero(double exact) {
  return exact < 0 ? rounded_up(exact) : rounded_down(exact);
}
}  // namespace hostcuda

#define HOSTCUDA_ROUNDED(name, symbol, suffix, mode, rounded_as)                         \
  HOSTCUDA_FUNCTION float __f##name##_##suffix(float a, float b) {                       \
    return hostcuda::rounded_as(double{a} symbol double{b});                             \
  }                                                                                      \
  HOSTCUDA_FUNCTION double __d##name##_##suffix(double a, double b) {                    \
    return hostcuda::rounded(mode, a, b, [](double x, double y) { return x symbol y; }); \
  }
#define HOSTCUDA_ROUNDING(suffix, mode, rounded_as)                                         \
  HOSTCUDA_ROUNDED(add, +, suffix, mode, rounded_as)                                        \
  HOSTCUDA_ROUNDED(sub, -, suffix, mode, rounded_as)                                        \
  HOSTCUDA_ROUNDED(mul, *, suffix, mode, rounded_as)                                        \
  HOSTCUDA_ROUNDED(div, /, suffix, mode, rounded_as)                                        \
  HOSTCUDA_FUNCTION double __drcp_##suffix(double a) { return __ddiv_##suffix(1.0, a); }    \
  HOSTCUDA_FUNCTION float __frcp_##suffix(float a) { return __fdiv_##suffix(1.0f, a); }     \
  HOSTCUDA_FUNCTION double __dsqrt_##suffix(double a) {                                     \
    return hostcuda::rounded(mode, a, 0.0, [](double x, double) { return sqrt(x); });       \
  }                                                                                         \
  HOSTCUDA_FUNCTION float __fsqrt_##suffix(float a) {                                       \
    return hostcuda::rounded(mode, a, 0.0f, [](float x, float) { return sqrtf(x); });       \
  }                                                                                         \
  HOSTCUDA_FUNCTION double __fma_##suffix(double a, double b, double c) {                   \
    return hostcuda::rounded(mode, a, b, [=](double x, double y) { return fma(x, y, c); }); \
  }                                                                                         \
  HOSTCUDA_FUNCTION float __fmaf_##suffix(float a, float b, float c) {                      \
    return hostcuda::rounded(mode, a, b, [=](float x, float y) { return fmaf(x, y, c); });  \
  }                                                                                         \
  HOSTCUDA_FUNCTION float __ll2float_##suffix(long long i) {                                \
    return hostcuda::rounded_number<float>(mode, i);                                        \
  }                                                                                         \
  HOSTCUDA_FUNCTION float __ull2float_##suffix(unsigned long long i) {                      \
    return hostcuda::rounded_number<float>(mode, i);                                        \
  }                                                                                         \
  HOSTCUDA_FUNCTION double __ll2double_##suffix(long long i) {                              \
    return hostcuda::rounded_number<double>(mode, i);                                       \
  }                                                                                         \
  HOSTCUDA_FUNCTION double __ull2double_##suffix(unsigned long long i) {                    \
    return hostcuda::rounded_number<double>(mode, i);                                       \
  }
HOSTCUDA_ROUNDING(rd, FE_DOWNWARD, rounded_down)
HOSTCUDA_ROUNDING(ru, FE_UPWARD, rounded_up)
HOSTCUDA_ROUNDING(rz, FE_TOWARDZERO, rounded_to_zero)
#undef HOSTCUDA_ROUNDING
#undef HOSTCUDA_ROUNDED

// Conversions to integers, in all rounding modes. As on a GPU, a number that does not fit becomes
// the closest integer that fits. NaN becomes 0 or, if one of the types has 8 bytes, the most
// negative integer.
namespace hostcuda {
template <class Integer, class Real>
Integer whole_number(Real whole) {
  constexpr bool kIsSigned = static_cast<Integer>(-1) < 0;
  const Real end = ldexp(Real{1}, static_cast<int>(8 * sizeof(Integer)) - kIsSigned);
  if (whole != whole) {
    const bool is_least = sizeof(Real) == 8 || sizeof(Integer) == 8;
    return is_least ? static_cast<Integer>(1ull << (8 * sizeof(Integer) - 1)) : Integer{0};
  }
  if (whole >= end)
    return static_cast<Integer>(kIsSigned ? ~(~0ull << (8 * sizeof(Integer) - 1)) : ~0ull);
  if (whole <= (kIsSigned ? -end : Real{0}))
    return kIsSigned ? static_cast<Integer>(1ull << (8 * sizeof(Integer) - 1)) : Integer{0};
  return static_cast<Integer>(whole);
}
}  // namespace hostcuda
#define HOSTCUDA_TO_INTEGER(real, Real, name, Integer)       \
  HOSTCUDA_FUNCTION Integer __##real##2##name##_rn(Real a) { \
    return hostcuda::whole_number<Integer>(rint(a));         \
  }                                                          \
  HOSTCUDA_FUNCTION Integer __##real##2##name##_rd(Real a) { \
    return hostcuda::whole_number<Integer>(floor(a));        \
  }                                                          \
  HOSTCUDA_FUNCTION Integer __##real##2##name##_ru(Real a) { \
    return hostcuda::whole_number<Integer>(ceil(a));         \
  }                                                          \
  HOSTCUDA_FUNCTION Integer __##real##2##name##_rz(Real a) { \
    return hostcuda::whole_number<Integer>(trunc(a));        \
  }
HOSTCUDA_TO_INTEGER(float, float, int, int)
HOSTCUDA_TO_INTEGER(float, float, uint, unsigned)
HOSTCUDA_TO_INTEGER(float, float, ll, long long)
HOSTCUDA_TO_INTEGER(float, float, ull, unsigned long long)
HOSTCUDA_TO_INTEGER(double, double, int, int)
HOSTCUDA_TO_INTEGER(double, double, uint, unsigned)
HOSTCUDA_TO_INTEGER(double, double, ll, long long)
HOSTCUDA_TO_INTEGER(double, double, ull, unsigned long long)
#undef HOSTCUDA_TO_INTEGER
HOSTCUDA_FUNCTION float __uint2float_rn(unsigned i) { return static_cast<float>(i); }
#define HOSTCUDA_TO_FLOAT(name, Type)                                                          \
  HOSTCUDA_FUNCTION float __##name##2float_rz(Type a) { return hostcuda::rounded_to_zero(a); } \
  HOSTCUDA_FUNCTION float __##name##2float_rd(Type a) { return hostcuda::rounded_down(a); }    \
  HOSTCUDA_FUNCTION float __##name##2float_ru(Type a) { return hostcuda::rounded_up(a); }
HOSTCUDA_TO_FLOAT(int, int)
HOSTCUDA_TO_FLOAT(uint, unsigned)
HOSTCUDA_TO_FLOAT(double, double)
#undef HOSTCUDA_TO_FLOAT
HOSTCUDA_FUNCTION float __ll2float_rn(long long i) { return static_cast<float>(i); }
HOSTCUDA_FUNCTION float __ull2float_rn(unsigned long long i) { return static_cast<float>(i); }
HOSTCUDA_FUNCTION double __ll2double_rn(long long i) { return static_cast<double>(i); }
HOSTCUDA_FUNCTION double __ull2double_rn(unsigned long long i) { return static_cast<double>(i); }
HOSTCUDA_FUNCTION double __int2double_rn(int i) { return i; }
HOSTCUDA_FUNCTION double __uint2double_rn(unsigned i) { return i; }
HOSTCUDA_FUNCTION int __double2hiint(double d) {
  return static_cast<int>(__double_as_longlong(d) >> 32);
}
HOSTCUDA_FUNCTION int __double2loint(double d) { return static_cast<int>(__double_as_longlong(d)); }
HOSTCUDA_FUNCTION double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(high) << 32 | static_cast<unsigned>(low));
}

// ---- functions that <math.h> lacks --------------------------------------------------------------

// The argument is first reduced exactly, so that the results at multiples of 1/2 are exact.
HOSTCUDA_FUNCTION double cospi(double x) {
  const double half_turns = fabs(remainder(x, 2));  // 0 to 1
  if (half_turns == 0.5) return 0;
  return half_turns < 0.25   ? cos(M_PI * half_turns)
         : half_turns > 0.75 ? -cos(M_PI * (1 - half_turns))
                             : sin(M_PI * (0.5 - half_turns));
}
HOSTCUDA_FUNCTION double sinpi(double x) {
  const double half_turns = remainder(x, 2);  // -1 to 1
  const double size = fabs(half_turns);
  if (size == 1) return copysign(0.0, x);
  return size <= 0.25  ? sin(M_PI * half_turns)
         : size < 0.75 ? copysign(cos(M_PI * (0.5 - size)), half_turns)
                       : copysign(sin(M_PI * (1 - size)), half_turns);
}
HOSTCUDA_FUNCTION float sinpif(float x) { return static_cast<float>(sinpi(double{x})); }
HOSTCUDA_FUNCTION float cospif(float x) { return static_cast<float>(cospi(double{x})); }
HOSTCUDA_FUNCTION void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
HOSTCUDA_FUNCTION void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }
HOSTCUDA_FUNCTION float normcdff(float x) {
  return 0.5f * erfcf(-x * static_cast<float>(M_SQRT1_2));
}
HOSTCUDA_FUNCTION double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
HOSTCUDA_FUNCTION double rcbrt(double x) { return 1.0 / cbrt(x); }

// ---- atomics that wrap around, and atomics with a scope. Only a traced program distinguishes the
// scope of a block from that of the whole system.

HOSTCUDA_FUNCTION unsigned atomicInc(unsigned* address, unsigned limit) {
  return hostcuda::atomic_change(address, [=](unsigned old) { return old >= limit ? 0 : old + 1; });
}
HOSTCUDA_FUNCTION unsigned atomicDec(unsigned* address, unsigned limit) {
  return hostcuda::atomic_change(
      address, [=](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}
#define HOSTCUDA_SCOPES(name)                               \
  template <class T, class... Values>                       \
  inline auto name##_system(T* address, Values... values) { \
    return name(address, static_cast<T>(values)...);        \
  }                                                         \
  template <class T, class... Values>                       \
  inline auto name##_block(T* address, Values... values) {  \
    HOSTCUDA_TELL_SCOPE_OF_BLOCK();                         \
    return name(address, static_cast<T>(values)...);        \
  }
HOSTCUDA_SCOPES(atomicAdd)
// The scope holds for one atomic only, and each component is an atomic.
inline float2 atomicAdd_block(float2* address, float2 value) {
  return float2{atomicAdd_block(&address->x, value.x), atomicAdd_block(&address->y, value.y)};
}
inline float4 atomicAdd_block(float4* address, float4 value) {
  return float4{atomicAdd_block(&address->x, value.x), atomicAdd_block(&address->y, value.y),
                atomicAdd_block(&address->z, value.z), atomicAdd_block(&address->w, value.w)};
}
HOSTCUDA_SCOPES(atomicSub)
HOSTCUDA_SCOPES(atomicExch)
HOSTCUDA_SCOPES(atomicMin)
HOSTCUDA_SCOPES(atomicMax)
HOSTCUDA_SCOPES(atomicInc)
HOSTCUDA_SCOPES(atomicDec)
HOSTCUDA_SCOPES(atomicCAS)
HOSTCUDA_SCOPES(atomicAnd)
HOSTCUDA_SCOPES(atomicOr)
HOSTCUDA_SCOPES(atomicXor)
#undef HOSTCUDA_SCOPES

// ---- time and address spaces --------------------------------------------------------------------

namespace hostcuda {
long long clock_ticks();  // returns nanoseconds of the host's clock
}
HOSTCUDA_FUNCTION long long clock64() { return hostcuda::clock_ticks(); }
HOSTCUDA_FUNCTION std::size_t __cvta_generic_to_shared(const void* pointer, HOSTCUDA_HERE) {
  return hostcuda::to_window(pointer, file, line);
}
HOSTCUDA_FUNCTION void* __cvta_shared_to_generic(std::size_t window, HOSTCUDA_HERE) {
  return hostcuda::from_window(window, file, line);
}
HOSTCUDA_FUNCTION std::size_t __cvta_generic_to_global(const void* pointer) {
  return reinterpret_cast<std::size_t>(pointer);
}
HOSTCUDA_FUNCTION void* __cvta_global_to_generic(std::size_t address) {
  return reinterpret_cast<void*>(address);
}
HOSTCUDA_FUNCTION unsigned __isShared(const void* pointer) { return hostcuda::is_shared(pointer); }
HOSTCUDA_FUNCTION unsigned __isGlobal(const void* pointer) { return !hostcuda::is_shared(pointer); }
HOSTCUDA_FUNCTION void __nanosleep(unsigned) { hostcuda::yield(); }
HOSTCUDA_FUNCTION void __brkpt() {}
// The condition is not evaluated, so its accesses are not traced.
#ifndef __clang__
#define __builtin_assume(...) static_cast<void>(sizeof(static_cast<bool>(__VA_ARGS__)))
#endif
#define __assume(...) __builtin_assume(__VA_ARGS__)
