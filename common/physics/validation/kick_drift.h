// Checks one time step of the kick-drift scheme, given the accelerations that the step computes.
#pragma once

#include <array>
#include <limits>

#include "physics/validation/systems.h"

namespace nbody {

// Checks v1 = v0 + a dt and x1 = x0 + v1 dt for the bodies of a system. The velocities in `kicked`
// are the accelerations a.
template <class Real>
void check_kick_drift(Gate& gate, std::span<const BasicBody<Real>> before,
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
    add_error(gate, beyond_none(v1 - (v0 + dt * a)), speed);
    add_error(gate, beyond_none(x1 - (x0 + dt * v1)), length(x0) + length(v1) * time);
  }
}

template <class Real>
void check_kick_drift(Gate& gate, const BasicSystems<Real>& before,
                      const BasicSystems<Real>& kicked, const BasicSystems<Real>& after,
                      double dt) {
  for_each_system(before, gate, [&](int s, Gate& of_system) {
    check_kick_drift<Real>(of_system, before.system(s), kicked.system(s), after.system(s), dt);
  });
}

// Counts how far kicked velocities are from the predicted ones, in units of their last digits and
// in the direction of the kicks.
struct KickCount {
  double kicks = 0;     // sum of the lengths of the kicks
  double too_long = 0;  // sum of what the kicks are too long, or if negative, too short
  double expected = 0;  // how many last digits may differ because forces are rounded

  double value() const { return relative_error(std::abs(too_long), kicks); }
  // Digits that differ by chance are rare and independent of each other, so their number has the
  // mean and the variance `expected`. Eight standard deviations are allowed, and two digits more
  // for numbers so small that they are not distributed normally.
  double limit() const { return (expected + 8 * std::sqrt(expected) + 2) / kicks; }
};

// Checks the mean of the kicks v1 - v0 = a dt of a system. A kick that is much smaller than the
// velocity may be wrong by several percent before this shows in the velocity's last digits, but
// then these digits are wrong more often in one direction. Components whose kicks have nearly as
// many digits, within a factor of two, are counted together; the worst of these groups counts.
// `force_error` is the relative error by which the forces of two calls may differ.
template <class Real>
void check_mean_kick(Gate& gate, std::span<const BasicBody<Real>> before,
                     std::span<const BasicBody<Real>> kicked,
                     std::span<const BasicBody<Real>> after, double time_step, double force_error) {
  using W = Wide<Real>;
  constexpr int kDigits = std::numeric_limits<Real>::digits;
  const W dt = time_step, typical = std::abs(dt) * rms_speed(kicked);
  std::array<KickCount, kDigits + 2> counts;  // by the number of binary digits of a kick
  const auto count = [&](Real v0, Real a, Real v1) {
    const W kick = dt * a, size = std::abs(kick);
    if (!(size > 0)) return;
    const W smallest = std::numeric_limits<Real>::min();
    const W largest = std::max({smallest, size, std::abs(W{v0}), std::abs(W{v1})});
    const W digit = std::scalbn(W{1}, std::ilogb(largest) - (kDigits - 1));
    const int digits = std::clamp(std::ilogb(size / digit) + 1, 0, kDigits + 1);
    KickCount& of_digits = counts[static_cast<std::size_t>(digits)];
    const W wrong = W{v1} - static_cast<Real>(v0 + kick);
    of_digits.kicks += static_cast<double>(size / digit);
    of_digits.too_long += static_cast<double>((kick > 0 ? wrong : -wrong) / digit);
    of_digits.expected += static_cast<double>(force_error * (size + typical) / digit);
  };
  for (std::size_t i = 0; i < before.size(); ++i) {
    count(before[i].vx, kicked[i].vx, after[i].vx);
    count(before[i].vy, kicked[i].vy, after[i].vy);
    count(before[i].vz, kicked[i].vz, after[i].vz);
  }
  for (const KickCount& of_digits : counts) {
    // If the kicks have too few digits, the count cannot decide.
    if (of_digits.kicks > 0 && !(of_digits.limit() > kMaxLimit))
      gate.keep_worse(of_digits.value(), of_digits.limit());
  }
}

template <class Real>
void check_mean_kick(Gate& gate, const BasicSystems<Real>& before, const BasicSystems<Real>& kicked,
                     const BasicSystems<Real>& after, double dt, double force_error) {
  std::vector<Gate> gates(static_cast<std::size_t>(before.count), gate);
  for_each_system(before, [&](int s) {
    check_mean_kick<Real>(gates[static_cast<std::size_t>(s)], before.system(s), kicked.system(s),
                          after.system(s), dt, force_error);
  });
  for (const Gate& of_system : gates) gate.keep_worse(of_system.value, of_system.limit);
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
