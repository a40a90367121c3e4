#include <algorithm>
#include <cmath>

#include "course_program.h"
#include "physics/reference.h"

namespace course {

nbody::Gate check(const std::vector<Body>& start) {
  std::vector<Body> at_rest = start;
  for (Body& body : at_rest) body.vx = body.vy = body.vz = 0;
  std::vector<nbody::Body> bodies;
  for (const Body& b : at_rest) bodies.push_back({b.x, b.y, b.z, 0, 0, 0, 1});
  const nbody::ReferenceSystem reference(bodies);
  simulate(at_rest, 1);  // from rest: velocities are accelerations times the time step
  const std::size_t stride = std::max<std::size_t>(1, start.size() / 256);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < start.size(); i += stride) {
    const auto expected = reference.acceleration(static_cast<int>(i), kSofteningSquared);
    const Body& body = at_rest[i];
    const nbody::Vector3 kicked{body.vx / kTimeStep, body.vy / kTimeStep, body.vz / kTimeStep};
    const nbody::Vector3 difference = kicked - expected;
    error += dot(difference, difference);
    size += dot(expected, expected);
  }
  const int n = static_cast<int>(start.size());
  return {"acceleration_rms", size == 0 ? error : std::sqrt(error / size),
          nbody::acceleration_rms_limit(nbody::Summation::running, n)};
}

}  // namespace course
