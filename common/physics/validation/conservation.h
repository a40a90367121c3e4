// Checks that a run has not changed the masses, the momentum and the angular momentum, and that the
// numbers of its end state are finite.
#pragma once

#include <limits>
#include <string>
#include <utility>

#include "physics/validation/systems.h"
#include "support/text.h"

namespace nbody {

// Counts the numbers that are NaN or infinite, and reports the first of them.
template <class Real>
void check_finite(Check& check, const BasicSystems<Real>& end) {
  for (int s = 0; s < end.count; ++s) {
    for (int i = 0; i < end.bodies_per_system; ++i) {
      const BasicBody<Real>& b = end.system(s)[static_cast<std::size_t>(i)];
      if (std::isfinite(Wide<Real>{b.x} + b.y + b.z + b.vx + b.vy + b.vz + b.mass)) continue;
      for (const auto& [name, value] : {std::pair("x", b.x),
                                        {"y", b.y},
                                        {"z", b.z},
                                        {"vx", b.vx},
                                        {"vy", b.vy},
                                        {"vz", b.vz},
                                        {"mass", b.mass}}) {
        if (std::isfinite(value) || check.value++ > 0) continue;
        check.detail =
            format("%s of body %d is %s", name, i, std::isnan(value) ? "NaN" : "infinite") +
            (end.count > 1 ? format(" in system %d", s) : "");
      }
    }
  }
}

// Counts the bodies whose mass changed.
template <class Real>
void check_mass(Check& check, const BasicSystems<Real>& start, const BasicSystems<Real>& end) {
  for (std::size_t k = 0; k < start.bodies.size(); ++k)
    check.value += !(start.bodies[k].mass == end.bodies[k].mass);
}

// Returns the error of the momenta if the kicks of successive time steps are rounded in the same
// direction. Kicks that differ by less than the last digit of the velocity are rounded alike. A
// kick is the fraction `kick` of the velocity, and changes by about this fraction of itself from
// one step to the next, so it takes `alike` steps to change by the velocity's last digit.
template <class Real>
double error_of_equal_kicks(std::span<const BasicBody<Real>> start,
                            std::span<const BasicBody<Real>> kicked,
                            std::span<const BasicBody<Real>> end, double dt, int steps) {
  const auto speed = static_cast<double>(std::max(rms_speed(start), rms_speed(end)));
  const double kick = dt * static_cast<double>(rms_speed(kicked)) / speed;
  const double alike = unit_roundoff<Real> / (kick * kick);
  if (!(alike > 1)) return 0;
  return 2 * unit_roundoff<Real> * std::sqrt(std::min<double>(alike, steps) * steps);
}

// Divides the changes of momentum and angular momentum by the sums of the magnitudes of their
// terms, which partly cancel. The velocities in `kicked` are the accelerations at the start.
template <class Real>
void check_conservation(Check& momentum, Check& angular_momentum, const BasicSystems<Real>& start,
                        const BasicSystems<Real>& kicked, const BasicSystems<Real>& end, double dt,
                        int steps) {
  using W = Wide<Real>;
  const W duration = std::abs(static_cast<W>(dt)) * steps;
  const auto count = static_cast<std::size_t>(kicked.count);
  std::vector<Check> linear(count, momentum), angular(count, angular_momentum);
  for_each_system(kicked, [&](int s) {
    const auto before = start.system(s), after = end.system(s);
    // Velocities, and the factors m / d^3 of accelerations, may be too small for Real.
    const W none =
        std::numeric_limits<Real>::min() *
        (steps + 4 * largest_coordinate<Real>(before) * kicked.bodies_per_system * duration);
    BasicVector3<W> dp, dl;
    W p_scale = 0, l_scale = 0, p_none = 0, l_none = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const W m = before[i].mass;
      const auto x0 = position<W>(before[i]), v0 = velocity<W>(before[i]);
      const auto x1 = position<W>(after[i]), v1 = velocity<W>(after[i]);
      const W speed =
          std::max(length(v0), length(v1)) + length(velocity<W>(kicked.system(s)[i])) * duration;
      dp += m * (v1 - v0);
      dl += m * (cross(x1, v1) - cross(x0, v0));
      const W way = std::max(length(x0), length(x1));
      p_scale += m * speed;
      l_scale += m * way * speed;
      p_none += m * none;
      l_none += m * way * none;
    }
    const double rounding = error_of_equal_kicks<Real>(before, kicked.system(s), after, dt, steps);
    const auto compare = [&](Check& check, W error, W lost, W scale) {
      check.limit += rounding;
      add_error(check, error <= lost ? W{0} : error - lost, scale);
    };
    compare(linear[static_cast<std::size_t>(s)], length(dp), p_none, p_scale);
    compare(angular[static_cast<std::size_t>(s)], length(dl), l_none, l_scale);
  });
  for (const Check& check : linear) momentum.keep_worse(check.value, check.limit);
  for (const Check& check : angular) angular_momentum.keep_worse(check.value, check.limit);
}

}  // namespace nbody
