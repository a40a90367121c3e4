// Random systems that do not rotate.
#include <cmath>
#include <numbers>

#include "scenarios/scenario_bodies.h"
#include "scenarios/scenarios.h"

namespace nbody::generators {
namespace {

// Scales the velocities so that 2T/|W| = ratio, where W is the softened potential energy. Softening
// weakens the binding, so if W were the unsoftened energy, a sphere would expand by a few per cent.
void set_virial_ratio(std::span<BodyF64> bodies, double ratio, double softening) {
  if (bodies.size() < 2) return;
  const double wanted = -ratio * potential_energy(bodies, softening) / 2;
  scale_velocities(bodies, std::sqrt(wanted / kinetic_energy(bodies)));
}

double equal_mass(std::span<const BodyF64> bodies) {
  return 1 / static_cast<double>(bodies.size());
}

}  // namespace

// Cuts the sphere at the radius that contains the fraction 0.999 of the mass. A rare body beyond
// this radius would be so far out that float32 could not resolve the rest of the sphere.
void plummer(const SystemSpec& spec) {
  constexpr double kMassFraction = 0.999;
  constexpr double kLength = 3 * std::numbers::pi / 16;  // Plummer radius in Henon units
  Random& random = spec.random;
  for (BodyF64& body : spec.bodies) {
    const double fraction = kMassFraction * (1 - random.uniform());  // never 0
    const double r = 1 / std::sqrt(portable::exp(-2.0 / 3.0 * portable::log(fraction)) - 1);
    const Vector3 x = isotropic(random, r * kLength);

    double q, y, left;  // q: speed / escape speed, by von Neumann's rejection method
    do {
      q = random.uniform();
      y = random.uniform(0, 0.1);  // the density's maximum is 0.0922
      left = 1 - q * q;
    } while (y >= q * q * left * left * left * std::sqrt(left));
    const double speed = q * std::numbers::sqrt2 / std::sqrt(std::sqrt(1 + r * r));
    body = body_of(x, isotropic(random, speed), equal_mass(spec.bodies));
  }
  recentre(spec.bodies);
  set_virial_ratio(spec.bodies, 1, spec.softening);
}

// Makes a Plummer sphere of stars with total mass 1. The number of stars of mass m is proportional
// to m^-2.35 (Salpeter 1955, ApJ 121, 161) from 0.1 to 100 solar masses; the masses are drawn by
// inverting the cumulative distribution.
void star_cluster(const SystemSpec& spec) {
  constexpr double kPower = 1 - 2.35;
  const auto power = [](double x, double p) { return portable::exp(p * portable::log(x)); };
  const double lightest = power(0.1, kPower), heaviest = power(100, kPower);
  plummer(spec);
  double sum = 0;
  for (BodyF64& body : spec.bodies) {
    const double lighter = spec.random.uniform();
    body.mass = power(lightest + lighter * (heaviest - lightest), 1 / kPower);
    sum += body.mass;
  }
  for (BodyF64& body : spec.bodies) body.mass /= sum;
  recentre(spec.bodies);
  set_virial_ratio(spec.bodies, 1, spec.softening);
}

void cold_sphere(const SystemSpec& spec) {
  for (BodyF64& body : spec.bodies) {
    Vector3 x;
    do {
      const double a = spec.random.uniform(-1, 1), b = spec.random.uniform(-1, 1);
      x = {a, b, spec.random.uniform(-1, 1)};
    } while (dot(x, x) >= 1);
    body = body_of(x, normal_vector(spec.random), equal_mass(spec.bodies));
  }
  recentre(spec.bodies);
  set_virial_ratio(spec.bodies, spec.parameter("virial-ratio"), spec.softening);
}

void uniform(const SystemSpec& spec) {
  for (BodyF64& body : spec.bodies) {
    // A single body stays at rest at the origin, because otherwise it would drift out of view.
    if (spec.bodies.size() > 1)
      for (double* value : {&body.x, &body.y, &body.z, &body.vx, &body.vy, &body.vz})
        *value = spec.random.uniform(-1, 1);
    body.mass = equal_mass(spec.bodies);
  }
}

}  // namespace nbody::generators
