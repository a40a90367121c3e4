// Tests motions that are known from a formula, from symmetry, or from observation.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "scenarios/initial_conditions.h"
#include "step_under_test.h"

namespace nbody::test {
namespace {

constexpr double kPi = std::numbers::pi;

// Two bodies start at pericentre with semi-major axis 1 and total mass 1, so their period is 2 pi.
constexpr double kEccentricity = 0.5, kMass1 = 0.75, kMass2 = 0.25;
constexpr double kOrbitSoftening = 1e-5;

Systems kepler_pair() {
  const double r = 1 - kEccentricity, v = std::sqrt((1 + kEccentricity) / (1 - kEccentricity));
  Systems pair(1, 2);
  pair.bodies[0] = rounded({-kMass2 * r, 0, 0, 0, -kMass2 * v, 0, kMass1});
  pair.bodies[1] = rounded({kMass1 * r, 0, 0, 0, kMass1 * v, 0, kMass2});
  return pair;
}

// Returns the position of the second body relative to the first at time t. Solves Kepler's equation
// by Newton's method (Murray & Dermott 1999, section 2.4).
Vector3 kepler_separation(double t) {
  double anomaly = t;
  for (int k = 0; k < 50; ++k) {
    anomaly -=
        (anomaly - kEccentricity * std::sin(anomaly) - t) / (1 - kEccentricity * std::cos(anomaly));
  }
  return {std::cos(anomaly) - kEccentricity,
          std::sqrt(1 - kEccentricity * kEccentricity) * std::sin(anomaly), 0};
}

double kepler_error(Integrator integrator, double t, int steps) {
  const Systems end = simulate(kepler_pair(), t / steps, steps, kOrbitSoftening, integrator);
  const Body &a = end.bodies[0], &b = end.bodies[1];
  return length(Vector3{b.x - a.x, b.y - a.y, b.z - a.z} - kepler_separation(t));
}

// The bounds on orbits are leapfrog's truncation errors, measured with these numbers of steps, plus
// a small margin. A step with a larger error has wrong forces.
TEST(Physics, TwoBodiesFollowKepler) {
  EXPECT_LE(kepler_error(Integrator::leapfrog, 2 * kPi * 0.37, 200), 5.9e-4);  // measured: 5.1e-4
  EXPECT_LE(kepler_error(Integrator::leapfrog, 2 * kPi, 400), 3.5e-3);         // measured: 3.0e-3
}

// Measures the order at 0.37 of a period. After a whole period the error of semi-implicit Euler
// cancels, so Euler would look like a second-order method.
double measured_order(Integrator integrator, int steps) {
  const double t = 2 * kPi * 0.37;
  return std::log2(kepler_error(integrator, t, steps) / kepler_error(integrator, t, 2 * steps));
}

TEST(Physics, EulerIsOfFirstOrder) { EXPECT_NEAR(measured_order(Integrator::euler, 150), 1, 0.1); }

TEST(Physics, LeapfrogIsOfSecondOrder) {
  EXPECT_NEAR(measured_order(Integrator::leapfrog, 60), 2, 0.1);
}

TEST(Physics, LeapfrogRunsBackwards) {
  const auto galaxy = make_scenario(find_scenario("plummer"), {1, 100, 5, 0.1}).systems;
  Systems turned = simulate(galaxy, 0.01, 30, 0.1, Integrator::leapfrog);
  for (Body& body : turned.bodies) {
    body.vx = -body.vx;
    body.vy = -body.vy;
    body.vz = -body.vz;
  }
  const Systems back = simulate(turned, 0.01, 30, 0.1, Integrator::leapfrog);
  for (std::size_t i = 0; i < back.bodies.size(); ++i) {
    EXPECT_NEAR(back.bodies[i].x, galaxy.bodies[i].x, 2e-5 * (1 + std::abs(galaxy.bodies[i].x)));
    EXPECT_NEAR(back.bodies[i].vy, -galaxy.bodies[i].vy,
                2e-5 * (1 + std::abs(galaxy.bodies[i].vy)));
  }
}

TEST(Physics, TheFigureEightCloses) {
  const Scenario& scenario = find_scenario("figure-eight");
  const Snapshot start = make_scenario(scenario, {1, 3, 1, scenario.softening});
  const double period = 6.32591398;
  const int steps = 300;
  const Systems end =
      simulate(start.systems, period / steps, steps, scenario.softening, Integrator::leapfrog);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(end.bodies[i].x, start.systems.bodies[i].x, 1.8e-3);  // measured: up to 1.7e-3
    EXPECT_NEAR(end.bodies[i].y, start.systems.bodies[i].y, 1.8e-3);
  }
  // After a third of a period the bodies have changed places: 0 -> 2 -> 1 -> 0, or in the opposite
  // order.
  const Systems third =
      simulate(start.systems, period / steps, steps / 3, scenario.softening, Integrator::leapfrog);
  const double moved = std::hypot(third.bodies[0].x - start.systems.bodies[0].x,
                                  third.bodies[0].y - start.systems.bodies[0].y);
  EXPECT_GT(moved, 0.5);
}

struct Target {
  const char* name;
  std::size_t index;
  double x, y, z;
  double bound;  // AU
};

// Compares with DE405's positions of the planets 365.25 days after J2000
// (data/solar_system_de405_later.csv). The outer planets' error comes from float32: at 20 AU the
// last place of a coordinate is 2e-6 AU, and every step rounds once.
TEST(Physics, TheSolarSystemTakesAYear) {
  const Scenario& scenario = find_scenario("solar-system");
  const Snapshot start = make_scenario(scenario, {1, scenario.bodies, 1, scenario.softening});
  const double year = 365.25 * 0.01720209895;  // in units of year / 2 pi
  const int steps = 300;
  const Systems end =
      simulate(start.systems, year / steps, steps, scenario.softening, Integrator::leapfrog);
  const Target targets[] = {
      {"Mercury", 1, 0.158977877044, -0.417552391015, -0.048569822597, 2.65e-2},
      {"Venus", 2, 0.493364602288, 0.518635299615, -0.021433827317, 3.2e-3},
      {"Earth", 3, -0.181707070941, 0.962323355663, 0.000155305505, 1.15e-3},
      {"Mars", 5, -1.652227661364, -0.059246768074, 0.039512853654, 3.5e-4},
      {"Jupiter", 6, 1.793910407939, 4.709245520485, -0.059681575121, 2e-5},
      {"Saturn", 7, 4.682396433784, 7.804332519875, -0.322116297309, 2e-5},
      {"Uranus", 8, 15.368086957728, -12.730177724142, -0.246412362529, 2e-5},
      {"Neptune", 9, 17.736579074312, -24.330329923671, 0.092286224865, 2e-5},
  };
  for (const Target& target : targets) {
    const Vector3 expected{target.x, target.y, target.z};
    const double distance = length(position(end.bodies[target.index]) - expected);
    EXPECT_LE(distance, target.bound) << target.name;
    std::printf("    %-8s %.2e AU from DE405\n", target.name, distance);
  }
}

}  // namespace
}  // namespace nbody::test
