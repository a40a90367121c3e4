// Compares a kernel's accelerations with the accelerations of a float64 sum.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "nbody/bodies.h"
#include "physics/reference.h"

namespace experiments {

// Returns the relative RMS error of up to 256 of the bodies. found(i) is the computed acceleration
// of body i.
template <class Found>
double acceleration_error(std::span<const nbody::Body> bodies, double softening_squared,
                          const Found& found) {
  const nbody::ReferenceSystem reference(bodies);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < bodies.size(); i += std::max<std::size_t>(1, bodies.size() / 256)) {
    const auto expected = reference.acceleration(static_cast<int>(i), softening_squared);
    const nbody::Vector3 difference = found(i) - expected;
    error += dot(difference, difference);
    size += dot(expected, expected);
  }
  return size == 0 ? error : std::sqrt(error / size);
}

}  // namespace experiments
