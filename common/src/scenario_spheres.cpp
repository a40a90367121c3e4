// Random systems of any size.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "scenarios.h"

namespace nbody::makers {
namespace {

struct Vector {
  double x = 0, y = 0, z = 0;

  Vector& operator+=(const Vector& v) {
    x += v.x;
    y += v.y;
    z += v.z;
    return *this;
  }
  Vector operator-(const Vector& v) const { return {x - v.x, y - v.y, z - v.z}; }
  Vector operator*(double factor) const { return {x * factor, y * factor, z * factor}; }
  double squared() const { return x * x + y * y + z * z; }
};

Vector isotropic(Random& random, double length) {
  const double z = random.uniform(-1, 1);
  const double angle = random.uniform(0, 2 * std::numbers::pi);
  const double ring = std::sqrt(1 - z * z);
  return Vector{ring * std::cos(angle), ring * std::sin(angle), z} * length;
}

void remove_mean(std::vector<Vector>& vectors) {
  Vector sum;
  for (const Vector& v : vectors) sum += v;
  const Vector mean = sum * (1 / static_cast<double>(vectors.size()));
  for (Vector& v : vectors) v = v - mean;
}

// Softened potential energy of equal masses that sum to 1. Each body meets the next ones of a ring.
// The bodies are independent draws, so those are as good as any: up to N = 2048 it meets all others
// and the sum is exact, beyond that it is an unbiased estimate from four million pairs, right to
// about 0.1 %. A sum over all pairs would take longer than the simulation it prepares.
double potential_energy(const std::vector<Vector>& positions, double softening) {
  constexpr std::size_t kPairs = std::size_t{1} << 22;
  const std::size_t n = positions.size();
  const std::size_t partners =
      std::clamp<std::size_t>(kPairs / n, std::min<std::size_t>(n - 1, 64), n - 1);
  const double softening_squared = softening * softening;
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double sum_of_one = 0;
    for (std::size_t k = 1; k <= partners; ++k) {
      const std::size_t j = i + k < n ? i + k : i + k - n;
      sum_of_one += 1 / std::sqrt((positions[j] - positions[i]).squared() + softening_squared);
    }
    sum += sum_of_one;
  }
  // n * partners ordered pairs were met, of n * (n - 1); each pair counts once; masses are 1 / n.
  const auto count = static_cast<double>(n);
  return -0.5 * sum * ((count - 1) / static_cast<double>(partners)) / (count * count);
}

}  // namespace

// Aarseth, Henon and Wielen (1974), in Henon units (G = M = 1, E = -1/4). Cut at the mass fraction
// 0.999, or a rare body would sit so far out that float32 resolves the rest of the sphere badly.
// Velocities, in any unit until then, are scaled last, to 2T = |W| with the softened W: softening
// weakens the binding, and without this the sphere would expand by some per cent.
void plummer(std::span<Body> bodies, Random& random, double softening) {
  constexpr double kMassFraction = 0.999;
  constexpr double kLength = 3 * std::numbers::pi / 16;  // of a Plummer radius, in Henon units
  std::vector<Vector> positions(bodies.size()), velocities(bodies.size());
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const double fraction = kMassFraction * (1 - random.uniform());  // never 0
    const double r = 1 / std::sqrt(std::pow(fraction, -2.0 / 3.0) - 1);
    positions[i] = isotropic(random, r * kLength);

    double q, y;  // speed in units of the escape speed: von Neumann's rejection
    do {
      q = random.uniform();
      y = random.uniform(0, 0.1);  // the density's maximum is 0.0922
    } while (y >= q * q * std::pow(1 - q * q, 3.5));
    const double speed = q * std::numbers::sqrt2 * std::pow(1 + r * r, -0.25);
    velocities[i] = isotropic(random, speed);
  }
  remove_mean(positions);
  remove_mean(velocities);

  if (bodies.size() > 1) {
    double twice_kinetic = 0;
    for (const Vector& v : velocities) twice_kinetic += v.squared();
    twice_kinetic /= static_cast<double>(bodies.size());
    const double factor = std::sqrt(-potential_energy(positions, softening) / twice_kinetic);
    for (Vector& v : velocities) v = v * factor;
  }

  const auto mass = static_cast<float>(1 / static_cast<double>(bodies.size()));
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const auto narrow = [](double value) { return static_cast<float>(value); };
    const Vector &x = positions[i], &v = velocities[i];
    bodies[i] = {narrow(x.x), narrow(x.y), narrow(x.z), narrow(v.x),
                 narrow(v.y), narrow(v.z), mass};
  }
}

// What mini-nbody and its descendants start from: every component of position and velocity uniform
// in [-1, 1). No equilibrium: it expands. Only sums and products of exact numbers, so the bits are
// the same everywhere.
void uniform(std::span<Body> bodies, Random& random) {
  const auto mass = static_cast<float>(1 / static_cast<double>(bodies.size()));
  for (Body& body : bodies) {
    // A lone body would drift away from the picture.
    if (bodies.size() > 1)
      for (float* value : {&body.x, &body.y, &body.z, &body.vx, &body.vy, &body.vz})
        *value = static_cast<float>(random.uniform(-1, 1));
    body.mass = mass;
  }
}

}  // namespace nbody::makers
