// Two and three bodies whose motion is known.
#include <cmath>

#include "scenarios.h"

namespace nbody::makers {
namespace {

Body in_plane(double x, double y, double vx, double vy, double mass) {
  const auto narrow = [](double value) { return static_cast<float>(value); };
  return {narrow(x), narrow(y), 0.0f, narrow(vx), narrow(vy), 0.0f, narrow(mass)};
}

}  // namespace

// A Kepler pair with semi-major axis 1, at pericentre on the x axis, its centre of mass at rest at
// the origin.
void two_body(std::span<Body> bodies) {
  constexpr double kEccentricity = 0.5;
  constexpr double kMass[] = {1.0, 0.5};
  constexpr double kTotal = kMass[0] + kMass[1];
  const double distance = 1 - kEccentricity;
  const double speed = std::sqrt(kTotal * (1 + kEccentricity) / (1 - kEccentricity));
  bodies[0] = in_plane(-distance * kMass[1] / kTotal, 0, 0, -speed * kMass[1] / kTotal, kMass[0]);
  bodies[1] = in_plane(distance * kMass[0] / kTotal, 0, 0, speed * kMass[0] / kTotal, kMass[1]);
}

// Chenciner and Montgomery (2000): three equal masses chase each other along one curve.
void figure_eight(std::span<Body> bodies) {
  constexpr double kX = 0.97000436, kY = -0.24308753;
  constexpr double kVx = -0.93240737, kVy = -0.86473146;
  bodies[0] = in_plane(kX, kY, -kVx / 2, -kVy / 2, 1);
  bodies[1] = in_plane(-kX, -kY, -kVx / 2, -kVy / 2, 1);
  bodies[2] = in_plane(0, 0, kVx, kVy, 1);
}

}  // namespace nbody::makers
