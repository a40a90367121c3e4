// hostcuda: functions of CUDA that <math.h> lacks: inverses of distributions, norms, and others.
// The functions for float compute in double.
#pragma once

#include <cmath>

#include "../random_numbers/normal_quantile.h"
#include "../types.h"

HOSTCUDA_FUNCTION double normcdfinv(double p) {
  if (!(p >= 0 && p <= 1)) return NAN;
  if (p == 0 || p == 1) return p == 0 ? -HUGE_VAL : HUGE_VAL;
  return p <= 0.5 ? hostcuda::sobol::quantile(p) : -hostcuda::sobol::quantile(1 - p);
}
HOSTCUDA_FUNCTION double erfcinv(double x) {
  return -M_SQRT1_2 * (x > 1 ? -normcdfinv(1 - x / 2) : normcdfinv(x / 2));
}
// A step of Newton's method makes results close to 0 precise.
HOSTCUDA_FUNCTION double erfinv(double x) {
  if (!(std::fabs(x) < 0.5)) return x < 0 ? -erfcinv(1 + x) : erfcinv(1 - x);
  const double y = M_SQRT1_2 * normcdfinv((x + 1) / 2);
  return y - (std::erf(y) - x) * std::exp(y * y) / M_2_SQRTPI;
}
// exp(x * x) * erfc(x); for large x by the series in 1 / x.
HOSTCUDA_FUNCTION double erfcx(double x) {
  if (x < 50) return static_cast<double>(std::exp(1.0l * x * x) * std::erfc(1.0l * x));
  const double s = 0.5 / x / x;
  return 0.5 * M_2_SQRTPI / x * (1 - s * (1 - s * (3 - s * (15 - s * 105))));
}
HOSTCUDA_FUNCTION double cyl_bessel_i0(double x) { return std::cyl_bessel_i(0.0, std::fabs(x)); }
HOSTCUDA_FUNCTION double cyl_bessel_i1(double x) {
  return std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x);
}
#define HOSTCUDA_OF_FLOAT(name) \
  HOSTCUDA_FUNCTION float name##f(float x) { return static_cast<float>(name(double{x})); }
HOSTCUDA_OF_FLOAT(normcdfinv)
HOSTCUDA_OF_FLOAT(erfcinv)
HOSTCUDA_OF_FLOAT(erfinv)
HOSTCUDA_OF_FLOAT(erfcx)
HOSTCUDA_OF_FLOAT(cyl_bessel_i0)
HOSTCUDA_OF_FLOAT(cyl_bessel_i1)
#undef HOSTCUDA_OF_FLOAT

// ---- norms; those with an r are reciprocals -----------------------------------------------------

namespace hostcuda {
// The sum of squares of doubles neither overflows nor underflows in long double.
template <class Real>
inline auto norm_of(const Real* values, int count) {
  std::conditional_t<sizeof(Real) == 4, double, long double> sum = 0;
  for (int i = 0; i < count; ++i) sum += decltype(sum){values[i]} * values[i];
  return std::sqrt(sum);
}
}  // namespace hostcuda

#define HOSTCUDA_NORMS(Real, suffix)                                       \
  HOSTCUDA_FUNCTION Real norm##suffix(int count, const Real* values) {     \
    return static_cast<Real>(hostcuda::norm_of(values, count));            \
  }                                                                        \
  HOSTCUDA_FUNCTION Real rnorm##suffix(int count, const Real* values) {    \
    return static_cast<Real>(1 / hostcuda::norm_of(values, count));        \
  }                                                                        \
  HOSTCUDA_FUNCTION Real norm4d##suffix(Real a, Real b, Real c, Real d) {  \
    const Real values[] = {a, b, c, d};                                    \
    return norm##suffix(4, values);                                        \
  }                                                                        \
  HOSTCUDA_FUNCTION Real rnorm4d##suffix(Real a, Real b, Real c, Real d) { \
    const Real values[] = {a, b, c, d};                                    \
    return rnorm##suffix(4, values);                                       \
  }                                                                        \
  HOSTCUDA_FUNCTION Real rhypot##suffix(Real a, Real b) {                  \
    const Real values[] = {a, b};                                          \
    return rnorm##suffix(2, values);                                       \
  }
HOSTCUDA_NORMS(double, )
HOSTCUDA_NORMS(float, f)
#undef HOSTCUDA_NORMS
HOSTCUDA_FUNCTION double norm3d(double a, double b, double c) {
  const double values[] = {a, b, c};
  return norm(3, values);
}
HOSTCUDA_FUNCTION double rnorm3d(double a, double b, double c) {
  const double values[] = {a, b, c};
  return rnorm(3, values);
}
