// Functions shared by the generators of random systems: for directions, normal deviates, centres of
// mass and energies.
#pragma once

#include <span>

#include "nbody/bodies.h"
#include "physics/vector3.h"
#include "scenarios/portable_math.h"
#include "scenarios/random.h"

namespace nbody::generators {

inline Vector3 isotropic(Random& random, double length) {
  const double z = random.uniform(-1, 1);
  const auto [cos, sin] = portable::direction(random.uniform());
  const double ring = std::sqrt(1 - z * z);
  return length * Vector3{ring * cos, ring * sin, z};
}

// Returns a normal deviate of mean 0 and variance 1. Marsaglia's polar method yields two deviates.
// The second deviate is discarded, so that a body's random numbers do not depend on the body before
// it.
inline double normal(Random& random) {
  double x, square;
  do {
    x = random.uniform(-1, 1);
    const double y = random.uniform(-1, 1);
    square = x * x + y * y;
  } while (square >= 1 || square == 0);
  return x * std::sqrt(-2 * portable::log(square) / square);
}

inline Vector3 normal_vector(Random& random) {
  const double x = normal(random), y = normal(random), z = normal(random);
  return {x, y, z};
}

inline BodyF64 body_of(const Vector3& x, const Vector3& v, double mass) {
  return {x.x, x.y, x.z, v.x, v.y, v.z, mass};
}

// Shifts all positions and velocities so that the centre of mass is at rest at the origin.
void recentre(std::span<BodyF64> bodies);

double kinetic_energy(std::span<const BodyF64> bodies);
// Returns the softened potential energy. Up to N = 2048, it is the sum over all pairs. For larger N
// it is estimated from four million pairs (with an error of 0.1 %), because the sum over all pairs
// would take longer than the run.
double potential_energy(std::span<const BodyF64> bodies, double softening);

void scale_velocities(std::span<BodyF64> bodies, double factor);

}  // namespace nbody::generators
