// The result of a check: a value, its limit, and whether anything stayed undecided. Every
// comparison is written so that a NaN fails the check.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace nbody {

// A check whose limit is larger than this cannot distinguish right from wrong results, so it is
// undecided.
inline constexpr double kMaxLimit = 1e-2;

struct Check {
  std::string name;
  double value = 0;
  double limit = 0;
  bool decided = true;
  // Says what the check could not prove; never empty if the check is undecided. A check may be
  // decided for some systems and undecided for others.
  std::string open = {};
  std::string detail = {};  // what failed
  bool unproved = false;    // there was no time to prove anything, so the check has not passed
  double widest = 0;        // the largest limit that keep_worse was given

  // An infinite value fails even if the limit is also infinite, because both are computed from the
  // same output.
  bool failed() const { return decided && !(std::isfinite(value) && value <= limit); }

  // Replaces the value and the limit by the other value and limit if the other value is larger
  // relative to its limit.
  void keep_worse(double other_value, double other_limit);
};

// Use this instead of std::max in a check: std::max ignores a NaN in its second argument.
inline double max_or_nan(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::max(a, b);
}

// Returns error / scale. If the scale is zero, returns zero for an error of zero and infinity for
// any other error.
template <class Wide>
double relative_error(Wide wide_error, Wide wide_scale) {
  const auto error = static_cast<double>(wide_error), scale = static_cast<double>(wide_scale);
  if (error == 0) return 0;
  return scale > 0 ? error / scale : std::numeric_limits<double>::infinity();
}
template <class Wide>
double root_of_ratio(Wide a, Wide b) {
  return relative_error(std::sqrt(a), std::sqrt(b));
}

inline void Check::keep_worse(double other_value, double other_limit) {
  widest = std::max(widest, other_limit);
  if (std::isnan(value)) return;
  if (relative_error(other_value, other_limit) <= relative_error(value, limit)) return;
  value = other_value;
  limit = other_limit;
}

}  // namespace nbody
