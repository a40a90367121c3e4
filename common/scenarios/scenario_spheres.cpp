// Random systems without rotation.
#include <cmath>
#include <numbers>

#include "scenarios/scenario_bodies.h"
#include "scenarios/scenarios.h"

namespace nbody::makers {
namespace {

// Scales the velocities to 2T/|W| = ratio, with the softened W: softening weakens the binding, and
// a sphere in equilibrium without it would expand by some per cent.
void set_virial_ratio(std::span<BodyF64> bodies, double ratio, double softening) {
  if (bodies.size() < 2) return;
  const double wanted = -ratio * potential_energy(bodies, softening) / 2;
  scale_velocities(bodies, std::sqrt(wanted / kinetic_energy(bodies)));
}

double equal_mass(std::span<const BodyF64> bodies) {
  return 1 / static_cast<double>(bodies.size());
}

}  // namespace

// Cut at the mass fraction 0.999, or a rare body would sit so far out that float32 resolves the
// rest of the sphere badly.
void plummer(const Making& making) {
  constexpr double kMassFraction = 0.999;
  constexpr double kLength = 3 * std::numbers::pi / 16;  // of a Plummer radius, in Henon units
  Random& random = making.random;
  for (BodyF64& body : making.bodies) {
    const double fraction = kMassFraction * (1 - random.uniform());  // never 0
    const double r = 1 / std::sqrt(portable::exp(-2.0 / 3.0 * portable::log(fraction)) - 1);
    const Vector3 x = isotropic(random, r * kLength);

    double q, y, left;  // q: speed in units of the escape speed, by von Neumann's rejection
    do {
      q = random.uniform();
      y = random.uniform(0, 0.1);  // the density's maximum is 0.0922
      left = 1 - q * q;
    } while (y >= q * q * left * left * left * std::sqrt(left));
    const double speed = q * std::numbers::sqrt2 / std::sqrt(std::sqrt(1 + r * r));
    body = body_of(x, isotropic(random, speed), equal_mass(making.bodies));
  }
  recentre(making.bodies);
  set_virial_ratio(making.bodies, 1, making.softening);
}

void cold_sphere(const Making& making) {
  for (BodyF64& body : making.bodies) {
    Vector3 x;
    do {
      const double a = making.random.uniform(-1, 1), b = making.random.uniform(-1, 1);
      x = {a, b, making.random.uniform(-1, 1)};
    } while (dot(x, x) >= 1);
    body = body_of(x, normal_vector(making.random), equal_mass(making.bodies));
  }
  recentre(making.bodies);
  set_virial_ratio(making.bodies, making.parameter("virial-ratio"), making.softening);
}

void uniform(const Making& making) {
  for (BodyF64& body : making.bodies) {
    // A lone body would drift away from the picture.
    if (making.bodies.size() > 1)
      for (double* value : {&body.x, &body.y, &body.z, &body.vx, &body.vy, &body.vz})
        *value = making.random.uniform(-1, 1);
    body.mass = equal_mass(making.bodies);
  }
}

}  // namespace nbody::makers
