#include "physics/diagnostics.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace nbody {
namespace {

template <class Real>
Diagnostics diagnose_one(std::span<const BasicBody<Real>> bodies, double softening, double budget) {
  Diagnostics result;
  for (const auto& body : bodies) {
    const Vector3 x = position(body), v = velocity(body);
    result.kinetic += 0.5 * body.mass * dot(v, v);
    result.momentum += body.mass * v;
    result.angular_momentum += body.mass * cross(x, v);
  }
  const PotentialEnergy potential = potential_energy(bodies, softening, budget);
  result.potential = potential.value;
  result.potential_error = potential.standard_error;
  return result;
}

template <class Real>
Shape shape_of_one(std::span<const BasicBody<Real>> bodies) {
  Shape shape;
  double mass = 0;
  for (const auto& body : bodies) {
    mass += body.mass;
    shape.centre += body.mass * position(body);
  }
  if (mass == 0) return {};
  shape.centre = (1 / mass) * shape.centre;

  std::vector<std::pair<double, double>> by_distance;  // distance, mass
  by_distance.reserve(bodies.size());
  for (const auto& body : bodies) {
    by_distance.emplace_back(length(position(body) - shape.centre), body.mass);
  }
  std::sort(by_distance.begin(), by_distance.end());
  double inside = 0;
  std::size_t next = 0;
  for (const auto& [distance, m] : by_distance) {
    inside += m;
    // Nine of ten equal masses must count as 90 % of the mass, even if their rounded sum is
    // slightly less than 90 %.
    while (next < kLagrangianFractions.size() &&
           inside >= kLagrangianFractions[next] * mass * (1 - 1e-12)) {
      shape.lagrangian_radii[next++] = distance;
    }
  }
  return shape;
}

}  // namespace

Diagnostics& Diagnostics::operator+=(const Diagnostics& other) {
  kinetic += other.kinetic;
  potential += other.potential;
  potential_error = std::hypot(potential_error, other.potential_error);
  momentum += other.momentum;
  angular_momentum += other.angular_momentum;
  return *this;
}

Diagnostics diagnose(std::span<const Body> bodies, double softening, double budget) {
  return diagnose_one(bodies, softening, budget);
}
Diagnostics diagnose(std::span<const BodyF64> bodies, double softening, double budget) {
  return diagnose_one(bodies, softening, budget);
}

Shape shape_of(std::span<const Body> bodies) { return shape_of_one(bodies); }
Shape shape_of(std::span<const BodyF64> bodies) { return shape_of_one(bodies); }

}  // namespace nbody
