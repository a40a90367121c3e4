// The float type in which a state is checked: wider than the float type of the state.
#pragma once

#include <limits>
#include <type_traits>

namespace nbody {

template <class Real>
using Wide = std::conditional_t<std::is_same_v<Real, float>, double, long double>;

// The inverse of Wide: the float type of the states that are checked in W.
template <class W>
using Narrow = std::conditional_t<std::is_same_v<W, Wide<float>>, float, double>;

// The largest relative error of rounding to Real.
template <class Real>
inline constexpr double unit_roundoff = std::numeric_limits<Real>::epsilon() / 2;

// The factor by which a limit that is given for float32 must be multiplied for Real. Limits for
// float64 are smaller by the ratio of the two unit roundoffs.
template <class Real>
inline constexpr double kRounding = 1;
template <>
inline constexpr double kRounding<double> = 0x1p-29;

}  // namespace nbody
