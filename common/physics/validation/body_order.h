// Measures how much the accelerations that a step computes change if the bodies move, have another
// order, and are given in other axes and other units.
#pragma once

#include <functional>
#include <limits>
#include <utility>

#include "physics/validation.h"
#include "physics/validation/disguise.h"
#include "physics/validation/systems.h"

namespace nbody {

// If forces are sampled, body_order also compares this many of the other bodies per system with
// float64: those whose forces changed most.
inline constexpr int kMostChanged = 8;

// A state in which every body moves, even if the run starts from rest, and the length of a kick.
// The kick is so long that the accelerations lose no digits when they are added to the velocities.
template <class Real>
struct Motion {
  BasicSystems<Real> state;
  double kick = 1;
  std::vector<Wide<Real>> lost;  // relative error that rounding adds, per system
};

// Returns the kick's length: a power of two that makes the kick at least kLongKick times as large
// as the velocities, or 1 if that kick could overflow.
inline double length_of_kick(double speed_over_acceleration, double largest_acceleration) {
  constexpr double kLongKick = 1024;  // so long that adding the velocities costs no digits
  const double wanted = std::exp2(std::ceil(std::log2(kLongKick * speed_over_acceleration)));
  const double allowed = std::sqrt(kLargestProduct / std::max(largest_acceleration, 1.0));
  return wanted > 0 && std::isfinite(wanted) && wanted <= allowed ? wanted : 1;
}

// Returns the state `before` with random velocities added, and a kick that is long enough for them.
// The velocities in `kicked` are the accelerations of `before`.
template <class Real>
Motion<Real> set_in_motion(const BasicSystems<Real>& before, const BasicSystems<Real>& kicked) {
  using W = Wide<Real>;
  const auto count = static_cast<std::size_t>(before.count);
  Motion<Real> motion{before, 1, std::vector<W>(count)};
  std::vector<W> speeds(count), accelerations(count), largest(count);
  for_each_system(before, [&](int s) {
    const auto at = static_cast<std::size_t>(s);
    const W a = rms_speed<Real>(kicked.system(s));
    const W typical = std::max(rms_speed<Real>(before.system(s)),
                               std::sqrt(a * largest_coordinate<Real>(before.system(s))));
    SystemRandom random(3, s);
    for (BasicBody<Real>& body : motion.state.system(s))
      for (Real* v : {&body.vx, &body.vy, &body.vz})
        *v += static_cast<Real>(typical * (random.drawn() - 0.75));
    speeds[at] = rms_speed<Real>(motion.state.system(s));
    accelerations[at] = a;
    for (const auto& body : kicked.system(s))
      largest[at] = std::max(largest[at], length(velocity<W>(body)));
  });
  W ratio = 0, most = 0;
  for (std::size_t s = 0; s < count; ++s) {
    if (accelerations[s] > 0) ratio = std::max(ratio, speeds[s] / accelerations[s]);
    most = std::max(most, largest[s]);
  }
  motion.kick = length_of_kick(static_cast<double>(ratio), static_cast<double>(most));
  for (std::size_t s = 0; s < count; ++s)
    if (accelerations[s] > 0)
      motion.lost[s] = 4 * unit_roundoff<Real> * speeds[s] / (accelerations[s] * motion.kick);
  return motion;
}

// The root mean square change of a system's accelerations, relative to the accelerations.
struct Change {
  double value = 0;
  double lost = 0;        // the part of the change that rounding may explain
  std::vector<int> most;  // the bodies that change most, if the caller wants them
};

inline std::vector<int> numbers_of_largest(std::vector<std::pair<double, int>> values,
                                           std::size_t count) {
  count = std::min(count, values.size());
  const auto end = values.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(values.begin(), end, values.end(), std::greater());
  std::vector<int> which;
  for (auto value = values.begin(); value != end; ++value) which.push_back(value->second);
  return which;
}

// Returns how much the accelerations of every system change. `rescaled` is the step with
// kOtherLength times the softening; if `rescaled` is empty, lengths remain unchanged.
template <class Real>
std::vector<Change> changes_in_disguise(const BasicSystems<Real>& before,
                                        const BasicSystems<Real>& kicked, double softening_squared,
                                        const Advance<Real>& advance, const Advance<Real>& rescaled,
                                        bool wants_most) {
  using W = Wide<Real>;
  const Disguise<Real> disguise(before, softening_squared, rescaled ? kOtherLength : 1);
  const Motion<Real> motion = set_in_motion(before, kicked);
  const BasicSystems<Real> disguised = disguise.of(motion.state);
  BasicSystems<Real> after = disguised;
  (disguise.is_rescaled() ? rescaled : advance)(after, motion.kick, 1);
  std::vector<Change> changes(static_cast<std::size_t>(before.count));
  for_each_system(disguised, [&](int s) {
    const int other = disguise.system(s);
    Change& change = changes[static_cast<std::size_t>(other)];
    W error = 0, scale = 0;
    std::vector<std::pair<double, int>> of_bodies;
    for (std::size_t k = 0; k < disguised.system(s).size(); ++k) {
      const auto a = velocity<W>(kicked.system(other)[disguise.body(k)]);
      const auto dv = velocity<W>(after.system(s)[k]) - velocity<W>(disguised.system(s)[k]);
      const auto difference = (1 / static_cast<W>(motion.kick)) * disguise.back(dv) - a;
      error += dot(difference, difference);
      scale += dot(a, a);
      if (!wants_most) continue;
      const double of_body = relative_error(length(difference), length(a));
      // A NaN would make the sort order undefined.
      of_bodies.emplace_back(
          std::isnan(of_body) ? std::numeric_limits<double>::infinity() : of_body,
          static_cast<int>(disguise.body(k)));
    }
    change.value = root_of_ratio(error, scale);
    change.lost = static_cast<double>(motion.lost[static_cast<std::size_t>(other)]);
    change.most = numbers_of_largest(std::move(of_bodies), kMostChanged);
  });
  return changes;
}

}  // namespace nbody
