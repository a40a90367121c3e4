// Checks the kicks of several time steps in which no body moves.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "physics/force_error.h"
#include "physics/validation/systems.h"

namespace nbody {

template <class Real>
BasicSystems<Real> at_rest(BasicSystems<Real> state) {
  for (BasicBody<Real>& body : state.bodies) body.vx = body.vy = body.vz = 0;
  return state;
}

// Returns a power of two: a time step in which bodies that start from rest move by about 1e-12 of
// the extent of their system. The velocities in `kicked` are the accelerations.
template <class Real>
double too_short_to_move(const BasicSystems<Real>& state, const BasicSystems<Real>& kicked) {
  double shortest = 1;
  for (int s = 0; s < state.count; ++s) {
    const double extent = largest_coordinate<Real>(state.system(s));
    const auto a = static_cast<double>(rms_speed(kicked.system(s)));
    const double dt = std::exp2(std::floor(std::log2(1e-6 * std::sqrt(extent / a))));
    if (dt < shortest) shortest = dt;
  }
  return shortest;
}

// Returns evenly spaced bodies of the first system as a separate system.
template <class Real>
BasicSystems<Real> few_bodies(const BasicSystems<Real>& state) {
  constexpr int kFew = 1000;
  const std::vector<int> which =
      evenly_spaced(state.bodies_per_system, std::min(kFew, state.bodies_per_system));
  BasicSystems<Real> few(1, static_cast<int>(which.size()));
  for (std::size_t k = 0; k < which.size(); ++k)
    few.bodies[k] = state.bodies[static_cast<std::size_t>(which[k])];
  return few;
}

// Returns a time in which bodies move by about a hundredth of the extent of their system. The
// velocities in `kicked` are the accelerations.
template <class Real>
double long_enough_to_move(const BasicSystems<Real>& state, const BasicSystems<Real>& kicked) {
  const double way = 0.01 * largest_coordinate<Real>(state.system(0));
  const auto speed = static_cast<double>(rms_speed(state.system(0)));
  const auto a = static_cast<double>(rms_speed(kicked.system(0)));
  return std::min(speed > 0 ? way / speed : INFINITY, std::sqrt(way / a));
}

// Checks v = a time for bodies that start from rest. The velocities in `kicked` are the
// accelerations a.
template <class Real>
void check_kicks_from_rest(Check& check, const BasicSystems<Real>& kicked,
                           const BasicSystems<Real>& after, double time) {
  using W = Wide<Real>;
  for_each_system(kicked, check, [&](int s, Check& of_system) {
    const auto accelerations = kicked.system(s), velocities = after.system(s);
    const W typical = rms_speed(accelerations), t = time;
    for (std::size_t i = 0; i < accelerations.size(); ++i) {
      const auto a = velocity<W>(accelerations[i]), v = velocity<W>(velocities[i]);
      add_error(of_system, length(v - t * a), t * (length(a) + typical));
    }
  });
}

}  // namespace nbody
