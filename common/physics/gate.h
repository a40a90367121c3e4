// A gate: a value, the limit it is held to, and what of it was left open. Every comparison is
// written so that NaN fails.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace nbody {

// Beyond this a limit no longer tells right from wrong: the gate has not decided anything.
inline constexpr double kMaxLimit = 1e-2;

struct Gate {
  std::string name;
  double value = 0;
  double limit = 0;
  bool decided = true;
  // What the gate does not prove, in words; not empty if it is undecided. A gate may be decided for
  // some systems and open for others.
  std::string open = {};
  std::string detail = {};  // what failed, in words
  bool unproved = false;    // time did not allow to prove any of it: a pass would say too much

  // Where the step's own output is not a finite number, neither is the limit that follows from it.
  bool failed() const { return decided && !(std::isfinite(value) && value <= limit); }

  // Keeps the worse of two results: the one further beyond its limit.
  void keep_worse(double other_value, double other_limit);
};

// std::max drops a NaN that comes second; a gate must not.
inline double max_or_nan(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::max(a, b);
}

// No error is none on any scale; an error where there is no scale is infinite.
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

inline void Gate::keep_worse(double other_value, double other_limit) {
  if (std::isnan(value)) return;
  if (relative_error(other_value, other_limit) <= relative_error(value, limit)) return;
  value = other_value;
  limit = other_limit;
}

}  // namespace nbody
