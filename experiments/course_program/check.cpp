#include "course_program.h"
#include "experiments/acceleration_error.h"

namespace course {

nbody::Check check(const std::vector<Body>& start) {
  std::vector<Body> at_rest = start;
  for (Body& body : at_rest) body.vx = body.vy = body.vz = 0;
  std::vector<nbody::Body> bodies;
  for (const Body& b : at_rest) bodies.push_back({b.x, b.y, b.z, 0, 0, 0, 1});
  simulate(at_rest, 1);  // from rest, a step sets each velocity to acceleration times dt
  const auto kicked = [&](std::size_t i) -> nbody::Vector3 {
    const Body& body = at_rest[i];
    return {body.vx / kTimeStep, body.vy / kTimeStep, body.vz / kTimeStep};
  };
  const int n = static_cast<int>(start.size());
  return {"acceleration_rms", experiments::acceleration_error(bodies, kSofteningSquared, kicked),
          nbody::acceleration_rms_limit(nbody::Summation::running, n)};
}

}  // namespace course
