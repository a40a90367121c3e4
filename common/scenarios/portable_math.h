// Elementary functions made only of +, -, *, / and exact scaling. IEEE 754 fixes the bits of these
// operations, but not the bits of the library's exp: its last bit differs between libraries, and
// between CPUs with and without fused multiply-adds. Files that use the functions below are
// compiled with -ffp-contract=off.
//
// All functions are correct to a few units in the last place; the tests compare them with <cmath>.
#pragma once

#include <cmath>

namespace nbody::portable {

// ln 2 as the sum of two parts (Cody and Waite): the product of the high part and an exponent is
// exact.
inline constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;

// Returns ln x for x > 0. Writes x as m 2^k, with m in [sqrt(1/2), sqrt(2)], and computes
// ln m = 2 artanh((m - 1) / (m + 1)).
inline double log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);
  double sum = 0;
  for (int k = 25; k >= 1; k -= 2) sum = sum * (s * s) + 1.0 / k;
  return exponent * kLn2High + (exponent * kLn2Low + 2 * s * sum);
}

// Returns e^x for |x| < 700: the nearest power of two, times the remaining factor, which is summed
// as a Taylor series.
inline double exp(double x) {
  const double exponent = std::floor(x / (kLn2High + kLn2Low) + 0.5);
  const double rest = (x - exponent * kLn2High) - exponent * kLn2Low;
  double sum = 1;
  for (int k = 16; k >= 1; --k) sum = 1 + sum * rest / k;
  return std::ldexp(sum, static_cast<int>(exponent));
}

// The point of the unit circle at the angle 2 pi `turns`, with 0 <= turns < 1.
struct Direction {
  double cos, sin;
};
inline Direction direction(double turns) {
  const double quarter = std::floor(4 * turns + 0.5);
  const double angle = 2 * 3.14159265358979324 * (turns - quarter / 4);  // within +-pi/4
  double cos = 1, sin = 1;
  for (int k = 18; k >= 2; k -= 2) cos = 1 - cos * angle * angle / (k * (k - 1));
  for (int k = 19; k >= 3; k -= 2) sin = 1 - sin * angle * angle / (k * (k - 1));
  sin *= angle;
  switch (static_cast<int>(quarter) % 4) {
    case 1:
      return {-sin, cos};
    case 2:
      return {-cos, -sin};
    case 3:
      return {sin, -cos};
    default:
      return {cos, sin};
  }
}

}  // namespace nbody::portable
