#include "scenarios/scenario_bodies.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nbody::generators {

void recentre(std::span<BodyF64> bodies) {
  Vector3 x, v;
  double mass = 0;
  for (const BodyF64& body : bodies) {
    x += body.mass * position(body);
    v += body.mass * velocity(body);
    mass += body.mass;
  }
  if (mass == 0) return;
  for (BodyF64& body : bodies)
    body = body_of(position(body) - (1 / mass) * x, velocity(body) - (1 / mass) * v, body.mass);
}

double kinetic_energy(std::span<const BodyF64> bodies) {
  double sum = 0;
  for (const BodyF64& body : bodies) sum += 0.5 * body.mass * dot(velocity(body), velocity(body));
  return sum;
}

// Pairs body i with bodies i + p, i + 2p, ... modulo N. Because p is near 0.618 N, even the first
// few partners are spread evenly over all bodies, and so over disk and halo. Because p is coprime
// to N, the first N - 1 partners are all the other bodies.
double potential_energy(std::span<const BodyF64> bodies, double softening) {
  constexpr std::size_t kPairs = std::size_t{1} << 22;
  const std::size_t n = bodies.size();
  if (n < 2) return 0;
  const std::size_t partners =
      std::clamp<std::size_t>(kPairs / n, std::min<std::size_t>(n - 1, 64), n - 1);
  auto stride = static_cast<std::size_t>(0.6180339887 * static_cast<double>(n)) + 1;
  while (std::gcd(stride, n) != 1) ++stride;
  stride %= n;

  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double sum_of_one = 0;
    std::size_t j = i;
    for (std::size_t k = 0; k < partners; ++k) {
      j = j + stride < n ? j + stride : j + stride - n;
      const Vector3 d = position(bodies[j]) - position(bodies[i]);
      sum_of_one += bodies[j].mass / std::sqrt(dot(d, d) + softening * softening);
    }
    sum += bodies[i].mass * sum_of_one;
  }
  // Of the n * (n - 1) ordered pairs, the sum contains n * partners. The potential energy counts
  // each unordered pair only once.
  return -0.5 * sum * (static_cast<double>(n - 1) / static_cast<double>(partners));
}

void scale_velocities(std::span<BodyF64> bodies, double factor) {
  for (BodyF64& body : bodies) body = body_of(position(body), factor * velocity(body), body.mass);
}

}  // namespace nbody::generators
