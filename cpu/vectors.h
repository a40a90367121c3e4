// Vectors of floats, and the estimate of 1 / r with its correction, shared by cpu_simd, cpu_tree
// and the library. Highway compiles this header once for every target. Therefore include
// <hwy/foreach_target.h> and <hwy/highway.h> before it.
#if defined(NBODY_VECTORS_H) == defined(HWY_TARGET_TOGGLE)  // true once per target
#ifdef NBODY_VECTORS_H
#undef NBODY_VECTORS_H
#else
#define NBODY_VECTORS_H
#endif

#ifndef NBODY_MAX_LANES
#define NBODY_MAX_LANES
namespace {
constexpr int kMaxLanes = 16;  // lanes of AVX-512; columns are padded to a multiple of this
}  // namespace
#endif

// NOLINTBEGIN(misc-definitions-in-headers): compiled once per instruction set
HWY_BEFORE_NAMESPACE();
namespace {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, kMaxLanes>;
using Vector = hn::Vec<Lanes>;

struct Three {
  Vector x, y, z;
};

#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
// If the estimate is y = (1 + d) / r, then t = r^2 y^2 shows the estimate's error. With e = 1 - t,
//   1 / r^3 = y^3 (1 - e)^(-3/2) = y^3 (1 + 3/2 e + 15/8 e^2 ...), Newton's step for the cube.
// With the term 3/2 e alone, the factor of y^3 is 3/2 (5/3 - t); with both terms, it is
// 15/8 ((7/5 - t)^2 + 28/75). kScale is 3/2 or 15/8. AVX-512 estimates 14 bits, so 15/8 e^2 is
// below 3e-8 and is left out. Estimates of 12 bits need both terms.
constexpr bool kTwoTerms = HWY_TARGET >= HWY_AVX2;
constexpr float kFrom = kTwoTerms ? 7.0f / 5 : 5.0f / 3, kPlus = 28.0f / 75;
constexpr float kScale = 1 / (kTwoTerms ? (kFrom - 1) * (kFrom - 1) + kPlus : kFrom - 1);

// Returns 1 / r^3, divided by kScale.
HWY_INLINE Vector inverse_cube(Vector distance_squared) {
  const Vector y = hn::ApproximateReciprocalSqrt(distance_squared);
  const Vector y_squared = hn::Mul(y, y);
  Vector mend = hn::NegMulAdd(distance_squared, y_squared, hn::Set(Lanes(), kFrom));
  if (kTwoTerms) mend = hn::MulAdd(mend, mend, hn::Set(Lanes(), kPlus));
  return hn::Mul(hn::Mul(y, y_squared), mend);
}
// Returns 1 / r = y (1 - e)^(-1/2) = y (1 + e / 2 ...); the next term is below 1e-7.
HWY_INLINE Vector inverse(Vector distance_squared) {
  const Vector y = hn::ApproximateReciprocalSqrt(distance_squared);
  const Vector half = hn::Mul(hn::Set(Lanes(), 0.5f), y);
  return hn::Mul(y, hn::NegMulAdd(hn::Mul(distance_squared, y), half, hn::Set(Lanes(), 1.5f)));
}
#else
// On other targets the estimate may have only 8 bits, which are too few for a single Newton step.
constexpr float kScale = 1;
HWY_INLINE Vector inverse(Vector distance_squared) {
  return hn::Div(hn::Set(Lanes(), 1.0f), hn::Sqrt(distance_squared));
}
HWY_INLINE Vector inverse_cube(Vector distance_squared) {
  const Vector y = inverse(distance_squared);
  return hn::Mul(y, hn::Mul(y, y));
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace
HWY_AFTER_NAMESPACE();
// NOLINTEND(misc-definitions-in-headers)
#endif  // once per target
