// hostcuda: CUDA's complex numbers for C: a pair of floats or doubles.
#pragma once

#include "cuda_runtime.h"

// `suffix` is f for float and empty for double.
#define HOSTCUDA_COMPLEX(Name, Pair, Real, suffix, hypotenuse, multiply_and_add)                  \
  using Name = Pair;                                                                              \
  static inline Real cuCreal##suffix(Name z) { return z.x; }                                      \
  static inline Real cuCimag##suffix(Name z) { return z.y; }                                      \
  static inline Name make_##Name(Real real, Real imaginary) { return Name{real, imaginary}; }     \
  static inline Name cuConj##suffix(Name z) { return make_##Name(z.x, -z.y); }                    \
  static inline Name cuCadd##suffix(Name a, Name b) { return make_##Name(a.x + b.x, a.y + b.y); } \
  static inline Name cuCsub##suffix(Name a, Name b) { return make_##Name(a.x - b.x, a.y - b.y); } \
  static inline Name cuCmul##suffix(Name a, Name b) {                                             \
    return make_##Name(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                             \
  }                                                                                               \
  static inline Real cuCabs##suffix(Name z) { return hypotenuse(z.x, z.y); }                      \
  static inline Name multiply_and_add(Name a, Name b, Name c) {                                   \
    return cuCadd##suffix(cuCmul##suffix(a, b), c);                                               \
  }                                                                                               \
  /* Scaled, so that the square of b does not overflow. */                                        \
  static inline Name cuCdiv##suffix(Name a, Name b) {                                             \
    const Real scale = Real(1) / ((b.x < 0 ? -b.x : b.x) + (b.y < 0 ? -b.y : b.y));               \
    const Name p = make_##Name(a.x * scale, a.y * scale),                                         \
               q = make_##Name(b.x * scale, b.y * scale);                                         \
    const Real size = q.x * q.x + q.y * q.y;                                                      \
    return make_##Name((p.x * q.x + p.y * q.y) / size, (p.y * q.x - p.x * q.y) / size);           \
  }
HOSTCUDA_COMPLEX(cuFloatComplex, float2, float, f, hypotf, cuCfmaf)
HOSTCUDA_COMPLEX(cuDoubleComplex, double2, double, , hypot, cuCfma)
#undef HOSTCUDA_COMPLEX

using cuComplex = cuFloatComplex;
static inline cuComplex make_cuComplex(float real, float imaginary) {
  return make_cuFloatComplex(real, imaginary);
}
static inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) {
  return make_cuDoubleComplex(z.x, z.y);
}
static inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return make_cuFloatComplex(static_cast<float>(z.x), static_cast<float>(z.y));
}
