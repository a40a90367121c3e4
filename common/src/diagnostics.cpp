#include "nbody/diagnostics.h"

#include <algorithm>

#include "nbody/reference.h"

namespace nbody {

Diagnostics diagnose(const Systems& systems, double softening, double budget) {
  Diagnostics sum;
  const int n = systems.bodies_per_system;
  const double pairs = static_cast<double>(systems.count) * n * n;
  const int stride = std::max(1, static_cast<int>(pairs / budget));
  sum.potential_is_sampled = stride > 1;
  for (int s = 0; s < systems.count; ++s) {
    const auto bodies = systems.system(s);
    for (const Body& body : bodies) {
      const Vector3 x{body.x, body.y, body.z}, v{body.vx, body.vy, body.vz};
      sum.kinetic += 0.5 * body.mass * dot(v, v);
      sum.momentum += body.mass * v;
      sum.angular_momentum += body.mass * cross(x, v);
    }
    const ReferenceSystem reference(bodies);
    double potential = 0, sampled_mass = 0, mass = 0;
#pragma omp parallel for reduction(+ : potential, sampled_mass) schedule(static)
    for (int i = 0; i < n; i += stride) {
      const double m = bodies[static_cast<std::size_t>(i)].mass;
      potential -= 0.5 * m * reference.potential(i, softening * softening);
      sampled_mass += m;
    }
    for (const Body& body : bodies) mass += body.mass;
    sum.potential += sampled_mass == 0 ? 0 : potential * (mass / sampled_mass);
  }
  return sum;
}

void drift(Systems& systems, float t) {
  for (Body& body : systems.bodies) {
    body.x += body.vx * t;
    body.y += body.vy * t;
    body.z += body.vz * t;
  }
}

}  // namespace nbody
