// Checks one time step of the kick-drift scheme, given the accelerations that the step computes.
#pragma once

#include <limits>

#include "physics/validation/systems.h"

namespace nbody {

// Checks v1 = v0 + a dt and x1 = x0 + v1 dt for the bodies of a system. The velocities in `kicked`
// are the accelerations a.
template <class Real>
void check_kick_drift(Check& check, std::span<const BasicBody<Real>> before,
                      std::span<const BasicBody<Real>> kicked,
                      std::span<const BasicBody<Real>> after, double time_step) {
  using W = Wide<Real>;
  // Differences smaller than `none` may come from numbers so small that they became zero.
  constexpr W none = std::numeric_limits<Real>::min();
  const W dt = time_step, time = std::abs(dt), typical = rms_speed(kicked);
  const auto beyond_none = [&](const auto& difference) {
    return std::isnan(length(difference)) ? length(difference)
                                          : std::max(W{0}, length(difference) - none);
  };
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto x0 = position<W>(before[i]), v0 = velocity<W>(before[i]);
    const auto x1 = position<W>(after[i]), v1 = velocity<W>(after[i]);
    const auto a = velocity<W>(kicked[i]);
    const W speed = length(v0) + (length(a) + typical) * time;
    add_error(check, beyond_none(v1 - (v0 + dt * a)), speed);
    add_error(check, beyond_none(x1 - (x0 + dt * v1)), length(x0) + length(v1) * time);
  }
}

template <class Real>
void check_kick_drift(Check& check, const BasicSystems<Real>& before,
                      const BasicSystems<Real>& kicked, const BasicSystems<Real>& after,
                      double dt) {
  for_each_system(before, check, [&](int s, Check& of_system) {
    check_kick_drift<Real>(of_system, before.system(s), kicked.system(s), after.system(s), dt);
  });
}

// A run's own time step may be so short that rounding in the velocity hides the kick, and rounding
// in the position hides the drift, so that no error in dt shows. Here half of the bodies start from
// rest, so that the kick is the whole velocity; the others are so fast that the drift dominates the
// position.
template <class Real>
BasicSystems<Real> at_rest_or_fast(BasicSystems<Real> state, double dt) {
  constexpr double kLongDrift = 8;  // largest ratio of a drift to the largest coordinate
  for_each_system(state, [&](int s) {
    SystemRandom random(2, s);
    const double reach = largest_coordinate<Real>(state.system(s));
    const double fast = kLongDrift * (reach > 0 ? reach : 1) / std::abs(dt);
    if (fast >= kLargestProduct) return;
    for (BasicBody<Real>& body : state.system(s)) {
      const bool rests = state.bodies_per_system > 1 && random() % 2 == 0;
      for (Real* v : {&body.vx, &body.vy, &body.vz})
        *v = rests ? 0 : static_cast<Real>(fast * (random() % 2 == 0 ? 1 : -1) * random.drawn());
    }
  });
  return state;
}

}  // namespace nbody
