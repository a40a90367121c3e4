// Shared by all checks: loops over the systems of a state, and functions that measure how a system
// moves.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "nbody/bodies.h"
#include "physics/check.h"
#include "physics/reference.h"
#include "physics/vector3.h"
#include "physics/wide.h"

namespace nbody {

// Products larger than this may overflow float32 when other terms are added.
inline constexpr double kLargestProduct = 1e30;

// Calls work(s) for every system, in parallel.
template <class Real, class Work>
void for_each_system(const BasicSystems<Real>& state, const Work& work) {
#pragma omp parallel for schedule(dynamic) if (is_worth_a_team(state.bodies_per_system))
  for (int s = 0; s < state.count; ++s) work(s);
}

inline void keep_worst(Check& check, const std::vector<Check>& others) {
  for (const Check& other : others) check.value = max_or_nan(check.value, other.value);
}

// Checks the systems in parallel, and stores the result of the worst system in `check`.
template <class Real, class CheckSystem>
void for_each_system(const BasicSystems<Real>& state, Check& check,
                     const CheckSystem& check_system) {
  std::vector<Check> checks(static_cast<std::size_t>(state.count));
  for_each_system(state, [&](int s) { check_system(s, checks[static_cast<std::size_t>(s)]); });
  keep_worst(check, checks);
}

// Raises the check's value to error / scale if this ratio is larger.
template <class W>
void add_error(Check& check, W error, W scale) {
  check.value = max_or_nan(check.value, relative_error(error, scale));
}

template <class Real>
Wide<Real> rms_speed(std::span<const BasicBody<Real>> bodies) {
  using W = Wide<Real>;
  W sum = 0;
  for (const auto& body : bodies) sum += dot(velocity<W>(body), velocity<W>(body));
  return std::sqrt(sum / static_cast<W>(bodies.size()));
}

// Unlike rms_speed, it does not depend on a few fast bodies.
template <class Real>
Wide<Real> median_speed(std::span<const BasicBody<Real>> bodies) {
  std::vector<Wide<Real>> speeds;
  for (const auto& body : bodies) speeds.push_back(length(velocity<Wide<Real>>(body)));
  const auto middle = speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() / 2);
  std::nth_element(speeds.begin(), middle, speeds.end());
  return *middle;
}

template <class Real>
double largest_coordinate(std::span<const BasicBody<Real>> bodies) {
  Real most = 0;
  for (const auto& b : bodies) most = std::max({most, std::abs(b.x), std::abs(b.y), std::abs(b.z)});
  return most;
}

// Random numbers for one system, from SplitMix64 (Steele, Lea and Flood 2014).
class SystemRandom {
 public:
  SystemRandom(int purpose, int system)
      : state_(static_cast<std::uint64_t>(purpose) << 48 ^ static_cast<std::uint64_t>(system)) {}
  std::uint64_t operator()() {
    std::uint64_t bits = state_ += 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
  }
  // Returns a number between 1/2 and 1.
  double drawn() { return 0.5 + static_cast<double>((*this)() >> 11) * 0x1p-54; }

 private:
  std::uint64_t state_;
};

}  // namespace nbody
