// The float a state is checked in: wider than its own.
#pragma once

#include <limits>

namespace nbody {

template <class Real>
struct Wider;
template <>
struct Wider<float> {
  using type = double;
};
template <>
struct Wider<double> {
  using type = long double;
};
template <class Real>
using Wide = typename Wider<Real>::type;

// The largest relative error of rounding to Real.
template <class Real>
inline constexpr double unit_roundoff = std::numeric_limits<Real>::epsilon() / 2;

// Limits are written for float32; those of float64 are stricter by the ratio of the two roundings.
template <class Real>
inline constexpr double kRounding = 1;
template <>
inline constexpr double kRounding<double> = 0x1p-29;

}  // namespace nbody
