// libnbody for C++20: the functions of nbody.h with spans and exceptions. Formulas, units and rules
// are in nbody.h.
#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "nbody.h"

namespace nbody::gravity {

template <class Real>
concept Float = std::same_as<Real, float> || std::same_as<Real, double>;

// Thrown if a call fails; code() is one of the results listed in nbody.h. Two errors differ:
// NBODY_NO_MEMORY throws std::bad_alloc, and spans whose sizes do not fit throw
// std::invalid_argument.
class Error : public std::runtime_error {
 public:
  explicit Error(int code) : std::runtime_error(nbody_error_text(code)), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

struct Options : nbody_options {
  Options() { nbody_default_options(this, sizeof(nbody_options)); }
};

// Positions and velocities hold three numbers per body.
template <Float Real>
struct Bodies {
  std::span<const Real> positions;
  std::span<const Real> velocities = {};  // only for jerks
};

namespace detail {
inline void require(int result) {
  if (result == NBODY_NO_MEMORY) throw std::bad_alloc();
  if (result != NBODY_OK) throw Error(result);
}
template <Float Real>
void check(const Bodies<Real>& sources, std::span<const Real> masses,
           const std::optional<Bodies<Real>>& targets, bool moving) {
  const auto fits = [moving](const Bodies<Real>& bodies) {
    return bodies.positions.size() % 3 == 0 &&
           (!moving || bodies.velocities.size() == bodies.positions.size());
  };
  if (!fits(sources) || sources.positions.size() != 3 * masses.size() ||
      (targets && !fits(*targets)))
    throw std::invalid_argument("positions and velocities need three numbers per body, masses one");
}
// An empty array of targets must not be mistaken for a missing array.
template <Float Real>
const Real* positions_of(const std::optional<Bodies<Real>>& targets) {
  static const Real nothing = 0;
  if (!targets) return nullptr;
  return targets->positions.empty() ? &nothing : targets->positions.data();
}
template <Float Real>
std::size_t count(const std::optional<Bodies<Real>>& targets, std::size_t sources) {
  return targets ? targets->positions.size() / 3 : sources;
}
}  // namespace detail

// Returns three numbers per target; without targets, the sources are the targets.
template <Float Real>
std::vector<Real> accelerations(Bodies<Real> sources, std::span<const Real> masses,
                                double softening, std::optional<Bodies<Real>> targets = {},
                                const Options& options = {}) {
  detail::check(sources, masses, targets, false);
  const std::size_t n = detail::count(targets, masses.size());
  std::vector<Real> out(3 * n);
  const auto* const at = detail::positions_of(targets);
  if constexpr (std::same_as<Real, float>) {
    detail::require(nbody_accelerations_f32(masses.size(), sources.positions.data(), masses.data(),
                                            n, at, softening, &options, out.data()));
  } else {
    detail::require(nbody_accelerations_f64(masses.size(), sources.positions.data(), masses.data(),
                                            n, at, softening, &options, out.data()));
  }
  return out;
}

// Returns one number per target.
template <Float Real>
std::vector<Real> potential(Bodies<Real> sources, std::span<const Real> masses, double softening,
                            std::optional<Bodies<Real>> targets = {}, const Options& options = {}) {
  detail::check(sources, masses, targets, false);
  const std::size_t n = detail::count(targets, masses.size());
  std::vector<Real> out(n);
  const auto* const at = detail::positions_of(targets);
  if constexpr (std::same_as<Real, float>) {
    detail::require(nbody_potential_f32(masses.size(), sources.positions.data(), masses.data(), n,
                                        at, softening, &options, out.data()));
  } else {
    detail::require(nbody_potential_f64(masses.size(), sources.positions.data(), masses.data(), n,
                                        at, softening, &options, out.data()));
  }
  return out;
}

template <Float Real>
struct Derivatives {
  std::vector<Real> accelerations, jerks;  // three numbers per target
};
// Returns accelerations and jerks. Sources need velocities, and so do targets if they are given.
template <Float Real>
Derivatives<Real> jerk(Bodies<Real> sources, std::span<const Real> masses, double softening,
                       std::optional<Bodies<Real>> targets = {}, const Options& options = {}) {
  detail::check(sources, masses, targets, true);
  const std::size_t n = detail::count(targets, masses.size());
  Derivatives<Real> out{std::vector<Real>(3 * n), std::vector<Real>(3 * n)};
  const auto* const at = detail::positions_of(targets);
  const Real* const moving = targets ? targets->velocities.data() : nullptr;
  const auto* const x = sources.positions.data();
  const auto* const v = sources.velocities.data();
  if constexpr (std::same_as<Real, float>) {
    detail::require(nbody_jerk_f32(masses.size(), x, v, masses.data(), n, at, moving, softening,
                                   &options, out.accelerations.data(), out.jerks.data()));
  } else {
    detail::require(nbody_jerk_f64(masses.size(), x, v, masses.data(), n, at, moving, softening,
                                   &options, out.accelerations.data(), out.jerks.data()));
  }
  return out;
}

}  // namespace nbody::gravity
