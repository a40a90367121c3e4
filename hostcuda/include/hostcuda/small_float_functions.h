// hostcuda: the functions of half and bfloat16, except for operators (small_float.h): conversions
// from and to integers in all rounding modes, comparisons, and mathematical functions.
#pragma once

#include <limits>
#include <type_traits>

#include "small_float.h"

namespace hostcuda {

enum class Round { nearest, down, up, to_zero };

// Returns the next larger number of this type (direction 1) or the next smaller one (-1).
template <class Small>
Small neighbour(Small of, int direction) {
  const int magnitude = of.bits & 0x7fff;
  const int ordered = (of.bits & 0x8000 ? -magnitude : magnitude) + direction;
  of.bits = static_cast<unsigned short>(ordered < 0 ? 0x8000 | -ordered : ordered);
  return of;
}

template <class Small>
Small rounded_small(long double exact, Round mode) {
  const Small near(static_cast<float>(exact));
  const auto value = [](Small of) { return static_cast<long double>(static_cast<float>(of)); };
  if (exact != exact || value(near) == exact || (mode == Round::nearest && isinf(float(near))))
    return near;
  const Small low = value(near) > exact ? neighbour(near, -1) : near, high = neighbour(low, 1);
  switch (mode) {
    case Round::down:
      return low;
    case Round::up:
      return high;
    case Round::to_zero:
      return exact < 0 ? high : low;
    default:
      break;
  }
  const long double below = exact - value(low), above = value(high) - exact;
  return below < above || (below == above && low.bits % 2 == 0) ? low : high;
}

// As on a GPU, a number beyond the integer's range becomes the largest or smallest integer, and NaN
// becomes 0.
template <class Integer>
Integer to_integer(float value, Round mode) {
  using Limits = std::numeric_limits<Integer>;
  if (value != value) return 0;
  const float whole = mode == Round::nearest ? rintf(value)
                      : mode == Round::down  ? floorf(value)
                      : mode == Round::up    ? ceilf(value)
                                             : truncf(value);
  if (whole <= static_cast<float>(Limits::min())) return Limits::min();
  if (whole >= static_cast<float>(Limits::max())) return Limits::max();
  return static_cast<Integer>(whole);
}

inline float saturated(float value) { return value > 0.0f ? fminf(value, 1.0f) : 0.0f; }
inline float at_least_zero(float value) { return value < 0.0f ? 0.0f : value; }
inline float largest_or_nan(float a, float b) { return a != a || b != b ? NAN : fmaxf(a, b); }
inline float smallest_or_nan(float a, float b) { return a != a || b != b ? NAN : fminf(a, b); }

}  // namespace hostcuda

#define HOSTCUDA_SMALL_ROUNDED(Name, word, name, Type, suffix, mode)                          \
  inline Type __##word##2##name##_##suffix(Name a) {                                          \
    return hostcuda::to_integer<Type>(a, hostcuda::Round::mode);                              \
  }                                                                                           \
  inline Name __##name##2##word##_##suffix(Type a) {                                          \
    return hostcuda::rounded_small<Name>(static_cast<long double>(a), hostcuda::Round::mode); \
  }
#define HOSTCUDA_SMALL_INTEGER(Name, word, name, Type)        \
  HOSTCUDA_SMALL_ROUNDED(Name, word, name, Type, rn, nearest) \
  HOSTCUDA_SMALL_ROUNDED(Name, word, name, Type, rd, down)    \
  HOSTCUDA_SMALL_ROUNDED(Name, word, name, Type, ru, up)      \
  HOSTCUDA_SMALL_ROUNDED(Name, word, name, Type, rz, to_zero)

// The ordered comparison is false if an operand is NaN, and the unordered comparison (u) is true.
#define HOSTCUDA_SMALL_COMPARE(Name, Pair, name, symbol) \
  inline bool __h##name(Name a, Name b) {                \
    const float x = a, y = b;                            \
    return x symbol y && x == x && y == y;               \
  }                                                      \
  inline bool __h##name##u(Name a, Name b) {             \
    const float x = a, y = b;                            \
    return x symbol y || x != x || y != y;               \
  }                                                      \
  HOSTCUDA_SMALL_COMPARE_PAIRS(Pair, name)               \
  HOSTCUDA_SMALL_COMPARE_PAIRS(Pair, name##u)
#define HOSTCUDA_SMALL_COMPARE_PAIRS(Pair, name)                                                   \
  inline Pair __h##name##2(Pair a, Pair b) {                                                       \
    return {float(__h##name(a.x, b.x)), float(__h##name(a.y, b.y))};                               \
  }                                                                                                \
  inline bool __hb##name##2(Pair a, Pair b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); } \
  inline unsigned __h##name##2_mask(Pair a, Pair b) {                                              \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);        \
  }

#define HOSTCUDA_SMALL_UNARY(Name, Pair, name, function)                  \
  inline Name h##name(Name a) { return Name(float(function(float(a)))); } \
  inline Pair h2##name(Pair a) { return {h##name(a.x), h##name(a.y)}; }

// An operation on two numbers, or on two pairs of numbers.
#define HOSTCUDA_SMALL_BINARY(Name, Pair, name, result) \
  inline Name __h##name(Name first, Name second) {      \
    const float a = first, b = second;                  \
    return Name(float(result));                         \
  }                                                     \
  HOSTCUDA_SMALL_PAIRS(Pair, name)
#define HOSTCUDA_SMALL_PAIRS(Pair, name) HOSTCUDA_SMALL_PAIRS_NAMED(Pair, name, name)

#define HOSTCUDA_SMALL_FLOAT_FUNCTIONS(Name, Pair, word)                                 \
  HOSTCUDA_SMALL_INTEGER(Name, word, int, int)                                           \
  HOSTCUDA_SMALL_INTEGER(Name, word, uint, unsigned)                                     \
  HOSTCUDA_SMALL_INTEGER(Name, word, short, short)                                       \
  HOSTCUDA_SMALL_INTEGER(Name, word, ushort, unsigned short)                             \
  HOSTCUDA_SMALL_INTEGER(Name, word, ll, long long)                                      \
  HOSTCUDA_SMALL_INTEGER(Name, word, ull, unsigned long long)                            \
  inline signed char __##word##2char_rz(Name a) {                                        \
    return hostcuda::to_integer<signed char>(a, hostcuda::Round::to_zero);               \
  }                                                                                      \
  inline unsigned char __##word##2uchar_rz(Name a) {                                     \
    return hostcuda::to_integer<unsigned char>(a, hostcuda::Round::to_zero);             \
  }                                                                                      \
  inline Name __float2##word(float a) { return a; }                                      \
  inline Name __float2##word##_rn(float a) { return a; }                                 \
  inline Name __float2##word##_rd(float a) {                                             \
    return hostcuda::rounded_small<Name>(a, hostcuda::Round::down);                      \
  }                                                                                      \
  inline Name __float2##word##_ru(float a) {                                             \
    return hostcuda::rounded_small<Name>(a, hostcuda::Round::up);                        \
  }                                                                                      \
  inline Name __float2##word##_rz(float a) {                                             \
    return hostcuda::rounded_small<Name>(a, hostcuda::Round::to_zero);                   \
  }                                                                                      \
  inline Name __double2##word(double a) {                                                \
    return hostcuda::rounded_small<Name>(a, hostcuda::Round::nearest);                   \
  }                                                                                      \
  inline float __##word##2float(Name a) { return a; }                                    \
  inline Name __ushort_as_##word(unsigned short bits) { return Name##_raw{bits}; }       \
  inline unsigned short __##word##_as_ushort(Name a) { return a.bits; }                  \
  inline Name __short_as_##word(short bits) {                                            \
    return Name##_raw{static_cast<unsigned short>(bits)};                                \
  }                                                                                      \
  inline short __##word##_as_short(Name a) { return static_cast<short>(a.bits); }        \
  HOSTCUDA_SMALL_COMPARE(Name, Pair, eq, ==)                                             \
  HOSTCUDA_SMALL_COMPARE(Name, Pair, ne, !=)                                             \
  HOSTCUDA_SMALL_COMPARE(Name, Pair, lt, <)                                              \
  HOSTCUDA_SMALL_COMPARE(Name, Pair, le, <=)                                             \
  HOSTCUDA_SMALL_COMPARE(Name, Pair, gt, >)                                              \
  HOSTCUDA_SMALL_COMPARE(Name, Pair, ge, >=)                                             \
  HOSTCUDA_SMALL_UNARY(Name, Pair, exp, expf)                                            \
  HOSTCUDA_SMALL_UNARY(Name, Pair, exp2, exp2f)                                          \
  HOSTCUDA_SMALL_UNARY(Name, Pair, exp10, exp10f)                                        \
  HOSTCUDA_SMALL_UNARY(Name, Pair, log, logf)                                            \
  HOSTCUDA_SMALL_UNARY(Name, Pair, log2, log2f)                                          \
  HOSTCUDA_SMALL_UNARY(Name, Pair, log10, log10f)                                        \
  HOSTCUDA_SMALL_UNARY(Name, Pair, sqrt, sqrtf)                                          \
  HOSTCUDA_SMALL_UNARY(Name, Pair, rsqrt, rsqrtf)                                        \
  HOSTCUDA_SMALL_UNARY(Name, Pair, rcp, 1.0f /)                                          \
  HOSTCUDA_SMALL_UNARY(Name, Pair, sin, sinf)                                            \
  HOSTCUDA_SMALL_UNARY(Name, Pair, cos, cosf)                                            \
  HOSTCUDA_SMALL_UNARY(Name, Pair, tanh, tanhf)                                          \
  HOSTCUDA_SMALL_UNARY(Name, Pair, tanh_approx, tanhf)                                   \
  HOSTCUDA_SMALL_UNARY(Name, Pair, ceil, ceilf)                                          \
  HOSTCUDA_SMALL_UNARY(Name, Pair, floor, floorf)                                        \
  HOSTCUDA_SMALL_UNARY(Name, Pair, trunc, truncf)                                        \
  HOSTCUDA_SMALL_UNARY(Name, Pair, rint, rintf)                                          \
  HOSTCUDA_SMALL_BINARY(Name, Pair, add, a + b)                                          \
  HOSTCUDA_SMALL_BINARY(Name, Pair, sub, a - b)                                          \
  HOSTCUDA_SMALL_BINARY(Name, Pair, mul, a* b)                                           \
  HOSTCUDA_SMALL_BINARY(Name, Pair, max, fmaxf(a, b))                                    \
  HOSTCUDA_SMALL_BINARY(Name, Pair, min, fminf(a, b))                                    \
  HOSTCUDA_SMALL_VARIANT(Name, Pair, add, rn, a + b)                                     \
  HOSTCUDA_SMALL_VARIANT(Name, Pair, sub, rn, a - b)                                     \
  HOSTCUDA_SMALL_VARIANT(Name, Pair, mul, rn, a* b)                                      \
  HOSTCUDA_SMALL_VARIANT(Name, Pair, add, sat, hostcuda::saturated(a + b))               \
  HOSTCUDA_SMALL_VARIANT(Name, Pair, sub, sat, hostcuda::saturated(a - b))               \
  HOSTCUDA_SMALL_VARIANT(Name, Pair, mul, sat, hostcuda::saturated(a* b))                \
  HOSTCUDA_SMALL_VARIANT(Name, Pair, max, nan, hostcuda::largest_or_nan(a, b))           \
  HOSTCUDA_SMALL_VARIANT(Name, Pair, min, nan, hostcuda::smallest_or_nan(a, b))          \
  inline Name __hdiv(Name a, Name b) { return a / b; }                                   \
  inline Pair __h2div(Pair a, Pair b) { return a / b; }                                  \
  inline Name __hneg(Name a) { return -a; }                                              \
  inline Name __habs(Name a) { return Name(fabsf(a)); }                                  \
  inline Pair __hneg2(Pair a) { return -a; }                                             \
  inline Pair __habs2(Pair a) { return {__habs(a.x), __habs(a.y)}; }                     \
  inline bool __hisnan(Name a) { return float(a) != float(a); }                          \
  inline int __hisinf(Name a) { return isinf(float(a)) ? (float(a) < 0 ? -1 : 1) : 0; }  \
  inline Pair __hisnan2(Pair a) { return {float(__hisnan(a.x)), float(__hisnan(a.y))}; } \
  HOSTCUDA_SMALL_FMA(Name, Pair, fma, fma2, )                                            \
  HOSTCUDA_SMALL_FMA(Name, Pair, fma_sat, fma2_sat, hostcuda::saturated)                 \
  HOSTCUDA_SMALL_FMA(Name, Pair, fma_relu, fma2_relu, hostcuda::at_least_zero)           \
  /* Complex numbers: the real part is .x */                                             \
  inline Pair __hcmadd(Pair a, Pair b, Pair c) {                                         \
    const Name real = __hfma(-a.y, b.y, __hfma(a.x, b.x, c.x));                          \
    return {real, __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};                              \
  }                                                                                      \
  inline float __low2float(Pair a) { return a.x; }                                       \
  inline float __high2float(Pair a) { return a.y; }                                      \
  inline Name __low2##word(Pair a) { return a.x; }                                       \
  inline Name __high2##word(Pair a) { return a.y; }                                      \
  inline Pair __lowhigh2highlow(Pair a) { return {a.y, a.x}; }                           \
  inline Pair __low2##word##2(Pair a) { return {a.x, a.x}; }                             \
  inline Pair __high2##word##2(Pair a) { return {a.y, a.y}; }                            \
  inline Pair __lows2##word##2(Pair a, Pair b) { return {a.x, b.x}; }                    \
  inline Pair __highs2##word##2(Pair a, Pair b) { return {a.y, b.y}; }                   \
  inline Pair __float2##word##2_rn(float a) { return {a, a}; }                           \
  inline Pair __floats2##word##2_rn(float a, float b) { return {a, b}; }                 \
  inline Pair __float22##word##2_rn(float2 a) { return {a.x, a.y}; }                     \
  inline float2 __##word##22float2(Pair a) { return make_float2(a.x, a.y); }             \
  inline Pair __halves2##word##2(Name a, Name b) { return {a, b}; }                      \
  inline Pair __##word##2##word##2(Name a) { return {a, a}; }                            \
  inline Pair __ldg(const Pair* address) { return *address; }

#define HOSTCUDA_SMALL_PAIRS_NAMED(Pair, of_pairs, name) \
  inline Pair __h##of_pairs##2(Pair a, Pair b) {         \
    return {__h##name(a.x, b.x), __h##name(a.y, b.y)};   \
  }
#define HOSTCUDA_SMALL_VARIANT(Name, Pair, name, variant, result)              \
  inline Name __h##name##_##variant(Name first, Name second) {                 \
    const float a = first, b = second;                                         \
    return Name(float(result));                                                \
  }                                                                            \
  inline Pair __h##name##2_##variant(Pair a, Pair b) {                         \
    return {__h##name##_##variant(a.x, b.x), __h##name##_##variant(a.y, b.y)}; \
  }
#define HOSTCUDA_SMALL_FMA(Name, Pair, name, of_pairs, change)                                 \
  inline Name __h##name(Name a, Name b, Name c) { return Name(float(change(fmaf(a, b, c)))); } \
  inline Pair __h##of_pairs(Pair a, Pair b, Pair c) {                                          \
    return {__h##name(a.x, b.x, c.x), __h##name(a.y, b.y, c.y)};                               \
  }
