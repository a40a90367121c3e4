// hostcuda: the 8-bit numbers e4m3 (4 bits of exponent, 3 of fraction; no infinity) and e5m2.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
typedef enum { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

namespace hostcuda {

struct Fp8Format {
  int fraction_bits, bias;
  int largest_bits;  // the bits of the largest finite number
  int nan_bits;
};
inline Fp8Format fp8_format(__nv_fp8_interpretation_t kind) {
  return kind == __NV_E4M3 ? Fp8Format{3, 7, 0x7e, 0x7f} : Fp8Format{2, 15, 0x7b, 0x7f};
}

inline double fp8_value(unsigned char bits, __nv_fp8_interpretation_t kind) {
  const Fp8Format format = fp8_format(kind);
  const int magnitude = bits & 0x7f, exponent = magnitude >> format.fraction_bits;
  const int unit = 1 << format.fraction_bits, fraction = magnitude & (unit - 1);
  double value = magnitude > format.largest_bits
                     ? (kind == __NV_E5M2 && fraction == 0 ? HUGE_VAL : static_cast<double>(NAN))
                 : exponent == 0
                     ? ldexp(fraction, 1 - format.bias - format.fraction_bits)
                     : ldexp(unit + fraction, exponent - format.bias - format.fraction_bits);
  return bits & 0x80 ? -value : value;
}

// Rounds to nearest even. A number that is too large becomes the largest finite number or, without
// saturation, infinity (e5m2) or NaN (e4m3).
inline unsigned char fp8_bits(double value, __nv_saturation_t saturation,
                              __nv_fp8_interpretation_t kind) {
  const Fp8Format format = fp8_format(kind);
  if (value != value) return static_cast<unsigned char>(format.nan_bits);
  const int sign = signbit(value) ? 0x80 : 0;
  const double size = fabs(value);
  const int exponent = size < ldexp(1.0, 1 - format.bias) ? 1 - format.bias
                       : isinf(size)                      ? 1024
                                                          : ilogb(size);
  int magnitude = 0x7f;
  if (exponent < 1024)
    magnitude = static_cast<int>(fmin(rint(ldexp(size, format.fraction_bits - exponent)) +
                                          ldexp(exponent + format.bias - 1, format.fraction_bits),
                                      0x7f));
  if (magnitude > format.largest_bits)
    magnitude = saturation == __NV_SATFINITE ? format.largest_bits
                : kind == __NV_E5M2          ? 0x7c
                                             : 0x7f;
  return static_cast<unsigned char>(sign | magnitude);
}

template <__nv_fp8_interpretation_t kKind>
struct Fp8 {
  __nv_fp8_storage_t __x;
  Fp8() = default;
  explicit Fp8(double value) : __x(fp8_bits(value, __NV_SATFINITE, kKind)) {}
  explicit Fp8(float value) : Fp8(double{value}) {}
  explicit Fp8(__half value) : Fp8(double{float(value)}) {}
  explicit Fp8(__nv_bfloat16 value) : Fp8(double{float(value)}) {}
  explicit Fp8(int value) : Fp8(double(value)) {}
  explicit Fp8(unsigned value) : Fp8(double(value)) {}
  explicit operator float() const { return static_cast<float>(fp8_value(__x, kKind)); }
  explicit operator double() const { return fp8_value(__x, kKind); }
  explicit operator __half() const { return float(*this); }
  explicit operator __nv_bfloat16() const { return float(*this); }
  explicit operator int() const { return to_integer<int>(float(*this), Round::to_zero); }
  explicit operator bool() const { return (__x & 0x7f) != 0; }
};

// Storage holds two or four numbers; the first number is in the lowest byte.
template <__nv_fp8_interpretation_t kKind, class Storage>
struct Fp8s {
  Storage __x;
  Fp8s() = default;
  explicit Fp8s(float2 a) : Fp8s({a.x, a.y}) {}
  explicit Fp8s(double2 a) : Fp8s({a.x, a.y}) {}
  explicit Fp8s(__half2 a) : Fp8s({float(a.x), float(a.y)}) {}
  explicit Fp8s(__nv_bfloat162 a) : Fp8s({float(a.x), float(a.y)}) {}
  explicit Fp8s(float4 a) : Fp8s({a.x, a.y, a.z, a.w}) {}
  explicit Fp8s(__half2 low, __half2 high)
      : Fp8s({float(low.x), float(low.y), float(high.x), float(high.y)}) {}
  explicit operator float2() const { return make_float2(at(0), at(1)); }
  explicit operator __half2() const { return {at(0), at(1)}; }
  explicit operator float4() const { return make_float4(at(0), at(1), at(2), at(3)); }

 private:
  explicit Fp8s(std::initializer_list<double> values) : __x(0) {
    unsigned shift = 0;
    for (const double value : values) {
      __x = static_cast<Storage>(__x | fp8_bits(value, __NV_SATFINITE, kKind) << shift);
      shift += 8;
    }
  }
  float at(unsigned i) const {
    return static_cast<float>(fp8_value(static_cast<unsigned char>(__x >> 8 * i), kKind));
  }
};

}  // namespace hostcuda

using __nv_fp8_e4m3 = hostcuda::Fp8<__NV_E4M3>;
using __nv_fp8_e5m2 = hostcuda::Fp8<__NV_E5M2>;
using __nv_fp8x2_e4m3 = hostcuda::Fp8s<__NV_E4M3, __nv_fp8x2_storage_t>;
using __nv_fp8x2_e5m2 = hostcuda::Fp8s<__NV_E5M2, __nv_fp8x2_storage_t>;
using __nv_fp8x4_e4m3 = hostcuda::Fp8s<__NV_E4M3, __nv_fp8x4_storage_t>;
using __nv_fp8x4_e5m2 = hostcuda::Fp8s<__NV_E5M2, __nv_fp8x4_storage_t>;

inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(double a, __nv_saturation_t saturation,
                                                 __nv_fp8_interpretation_t kind) {
  return hostcuda::fp8_bits(a, saturation, kind);
}
inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float a, __nv_saturation_t saturation,
                                                __nv_fp8_interpretation_t kind) {
  return hostcuda::fp8_bits(a, saturation, kind);
}
inline __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw a, __nv_saturation_t saturation,
                                                  __nv_fp8_interpretation_t kind) {
  return hostcuda::fp8_bits(float(__half(a)), saturation, kind);
}
inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw a,
                                                      __nv_saturation_t saturation,
                                                      __nv_fp8_interpretation_t kind) {
  return hostcuda::fp8_bits(float(__nv_bfloat16(a)), saturation, kind);
}
inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 a, __nv_saturation_t saturation,
                                                     __nv_fp8_interpretation_t kind) {
  return static_cast<__nv_fp8x2_storage_t>(hostcuda::fp8_bits(a.x, saturation, kind) |
                                           hostcuda::fp8_bits(a.y, saturation, kind) << 8);
}
inline __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 a, __nv_saturation_t saturation,
                                                      __nv_fp8_interpretation_t kind) {
  return static_cast<__nv_fp8x2_storage_t>(hostcuda::fp8_bits(a.x, saturation, kind) |
                                           hostcuda::fp8_bits(a.y, saturation, kind) << 8);
}
inline __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw a, __nv_saturation_t saturation,
                                                       __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(__half22float2(a), saturation, kind);
}
inline __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw a,
                                                           __nv_saturation_t saturation,
                                                           __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(__bfloat1622float2(a), saturation, kind);
}
inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t kind) {
  return __half(static_cast<float>(hostcuda::fp8_value(bits, kind)));
}
inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t bits,
                                              __nv_fp8_interpretation_t kind) {
  return {__nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(bits), kind).x,
          __nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(bits >> 8), kind).x};
}
