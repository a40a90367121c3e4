// Systems of two and three bodies whose exact motion is known.
#include <cmath>

#include "scenarios/scenarios.h"

namespace nbody::generators {
namespace {

BodyF64 in_plane(double x, double y, double vx, double vy, double mass) {
  return {x, y, 0, vx, vy, 0, mass};
}

}  // namespace

// The two bodies start at pericentre, on the x axis, with the centre of mass at rest at the origin.
void two_body(const SystemSpec& spec) {
  const double a = spec.parameter("semi-major-axis"), e = spec.parameter("eccentricity");
  const double m0 = 1, m1 = spec.parameter("mass-ratio"), total = m0 + m1;
  const double distance = a * (1 - e);
  const double speed = std::sqrt(total * (1 + e) / (a * (1 - e)));
  spec.bodies[0] = in_plane(-distance * m1 / total, 0, 0, -speed * m1 / total, m0);
  spec.bodies[1] = in_plane(distance * m0 / total, 0, 0, speed * m0 / total, m1);
}

void figure_eight(const SystemSpec& spec) {
  constexpr double kX = 0.97000436, kY = -0.24308753;
  constexpr double kVx = -0.93240737, kVy = -0.86473146;
  spec.bodies[0] = in_plane(kX, kY, -kVx / 2, -kVy / 2, 1);
  spec.bodies[1] = in_plane(-kX, -kY, -kVx / 2, -kVy / 2, 1);
  spec.bodies[2] = in_plane(0, 0, kVx, kVy, 1);
}

}  // namespace nbody::generators
