// Repeats a run with other numbers of steps per call. If an error depends on the number of steps
// per call, the repeated run ends in a different state.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "physics/validation.h"
#include "physics/validation/systems.h"

namespace nbody {

// Returns a state of some of the systems.
template <class Real>
BasicSystems<Real> chosen(const BasicSystems<Real>& systems, const std::vector<int>& which) {
  BasicSystems<Real> result(static_cast<int>(which.size()), systems.bodies_per_system);
  for (int s = 0; s < result.count; ++s) {
    const auto from = systems.system(which[static_cast<std::size_t>(s)]);
    std::copy(from.begin(), from.end(), result.system(s).begin());
  }
  return result;
}

// Returns the numbers of a run's steps after the first one, counted from 0. If there are many steps
// and not all are asked for, draws about kMostCheckedSteps of them, and adds the last.
inline std::vector<int> steps_to_check(int steps, bool all) {
  constexpr int kMostCheckedSteps = 1024;
  std::mt19937 random(static_cast<unsigned>(steps));
  std::bernoulli_distribution drawn(
      all || steps <= kMostCheckedSteps ? 1 : double{kMostCheckedSteps} / steps);
  std::vector<int> numbers;
  for (int number = 1; number < steps; ++number)
    if (number == steps - 1 || drawn(random)) numbers.push_back(number);
  return numbers;
}

// Advances the state: first in single steps, which other checks verify, then in calls of 2, 4, 8,
// ... steps, and finally in two equal calls. One long call would not be enough: a program that
// loses a time step in every long call would lose the same number of steps here and in the run, and
// would pass.
template <class Real>
BasicSystems<Real> in_several_calls(const Advance<Real>& advance, BasicSystems<Real> state,
                                    double dt, int steps_left) {
  constexpr int kSingleSteps = 32;
  int left = steps_left;
  const auto take = [&](int steps) {
    if (steps > 0) advance(state, dt, steps);
    left -= steps;
  };
  for (int k = 1; k < kSingleSteps && left > 0; ++k) take(1);
  for (int steps = 2; 4 * steps <= left; steps *= 2) take(steps);
  const int half = left / 2;
  take(half);
  take(half);
  take(left);
  return state;
}

template <class Real>
bool same_velocities(const BasicSystems<Real>& a, const BasicSystems<Real>& b) {
  return std::ranges::equal(a.bodies, b.bodies, [](const auto& one, const auto& other) {
    return one.vx == other.vx && one.vy == other.vy && one.vz == other.vz;
  });
}

// Compares two states that should be equal; `duration` is the time simulated until then.
template <class Real>
void compare_states(Check& check, const BasicSystems<Real>& a, const BasicSystems<Real>& b,
                    Wide<Real> duration) {
  using W = Wide<Real>;
  for_each_system(a, check, [&](int s, Check& of_system) {
    const W typical = rms_speed<Real>(a.system(s));
    for (std::size_t i = 0; i < a.system(s).size(); ++i) {
      const auto &one = a.system(s)[i], &other = b.system(s)[i];
      const W speed = length(velocity<W>(one)) + typical;
      const auto dx = position<W>(one) - position<W>(other);
      const auto dv = velocity<W>(one) - velocity<W>(other);
      add_error(of_system, length(dx), length(position<W>(one)) + speed * duration);
      add_error(of_system, length(dv), speed);
    }
  });
}

}  // namespace nbody
