// Checks that a run has not changed the masses, the momentum and the angular momentum, and that the
// numbers of its end state are finite.
#pragma once

#include <string>
#include <utility>

#include "physics/validation/systems.h"
#include "support/text.h"

namespace nbody {

// Counts the numbers that are NaN or infinite, and reports the first of them.
template <class Real>
void check_finite(Gate& gate, const BasicSystems<Real>& end) {
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
        if (std::isfinite(value) || gate.value++ > 0) continue;
        gate.detail =
            format("%s of body %d is %s", name, i, std::isnan(value) ? "NaN" : "infinite") +
            (end.count > 1 ? format(" in system %d", s) : "");
      }
    }
  }
}

// Counts the bodies whose mass changed.
template <class Real>
void check_mass(Gate& gate, const BasicSystems<Real>& start, const BasicSystems<Real>& end) {
  for (std::size_t k = 0; k < start.bodies.size(); ++k)
    gate.value += !(start.bodies[k].mass == end.bodies[k].mass);
}

// Divides the changes of momentum and angular momentum by the sums of the magnitudes of their
// terms, which partly cancel. The velocities in `kicked` are the accelerations at the start;
// `duration` is the time that the run simulates.
template <class Real>
void check_conservation(Gate& momentum, Gate& angular_momentum, const BasicSystems<Real>& start,
                        const BasicSystems<Real>& kicked, const BasicSystems<Real>& end,
                        Wide<Real> duration) {
  using W = Wide<Real>;
  std::vector<Gate> linear(static_cast<std::size_t>(kicked.count)), angular(linear);
  for_each_system(kicked, [&](int s) {
    const auto before = start.system(s), after = end.system(s);
    BasicVector3<W> dp, dl;
    W p_scale = 0, l_scale = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const W m = before[i].mass;
      const auto x0 = position<W>(before[i]), v0 = velocity<W>(before[i]);
      const auto x1 = position<W>(after[i]), v1 = velocity<W>(after[i]);
      const W speed =
          std::max(length(v0), length(v1)) + length(velocity<W>(kicked.system(s)[i])) * duration;
      dp += m * (v1 - v0);
      dl += m * (cross(x1, v1) - cross(x0, v0));
      p_scale += m * speed;
      l_scale += m * std::max(length(x0), length(x1)) * speed;
    }
    add_error(linear[static_cast<std::size_t>(s)], length(dp), p_scale);
    add_error(angular[static_cast<std::size_t>(s)], length(dl), l_scale);
  });
  keep_worst(momentum, linear);
  keep_worst(angular_momentum, angular);
}

}  // namespace nbody
