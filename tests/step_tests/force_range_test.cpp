// Tests a step whose tree accepts nodes by the force at hand with systems whose forces or moments
// are near the limits of float32.
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <numbers>
#include <vector>

#include "physics/force_error.h"
#include "physics/reference.h"
#include "scenarios/initial_conditions.h"
#include "step_under_test.h"

namespace nbody::test::force_range {
namespace {

constexpr double kSoftening = 0.05;
constexpr float kTolerance = 5e-3f;

// True if the step has a tolerance.
bool depends_on_forces() {
  const auto& own = step().info.approximation;
  return own && own->force_tolerance;
}

// Returns approximations of these orders, or one if the step has no series.
std::vector<Approximation> approximations(std::initializer_list<int> orders, int multipole,
                                          float tolerance) {
  const auto& own = step().info.approximation;
  if (!own->order) return {{1, multipole, tolerance}};
  std::vector<Approximation> all;
  for (const int order : orders) {
    all.push_back(*own);
    all.back().multipole = multipole;
    all.back().force_tolerance = tolerance;
    all.back().order = order;
  }
  return all;
}

Systems accelerations(Systems start, double softening, const Approximation& approximation) {
  for (Body& body : start.bodies) body.vx = body.vy = body.vz = 0;
  return simulate(start, 1, 1, softening, Integrator::euler, approximation);
}

Systems sphere(int bodies) {
  return make_scenario(find_scenario("plummer"), {1, bodies, 42, kSoftening}).systems;
}

// Returns the RMS error of accelerations relative to the RMS of the forces.
double error_of(const Systems& start, const Systems& accelerated, double softening) {
  const ReferenceSystem reference(start.system(0));
  double squares = 0, scale = 0;
  for (int i = 0; i < start.bodies_per_system; ++i) {
    const auto force = reference.force(i, softening * softening);
    const Body& body = accelerated.bodies[static_cast<std::size_t>(i)];
    const Vector3 error = velocity(body) - force.acceleration;
    squares += dot(error, error);
    scale += force.magnitude * force.magnitude;
  }
  return std::sqrt(squares / scale);
}

// Another unit of mass, a power of two, must change only the exponents of the accelerations.
TEST(SweepForceRange, UnitsOfMassDoNotMatter) {
  if (!depends_on_forces()) return;
  const Systems start = sphere(1500);
  for (const Approximation& approximation : approximations({2, 3, 4, 5}, 2, kTolerance)) {
    const Systems expected = accelerations(start, kSoftening, approximation);
    for (const float unit : {0x1p75f, 0x1p-80f}) {
      Systems scaled = start;
      for (Body& body : scaled.bodies) body.mass *= unit;
      const Systems found = accelerations(scaled, kSoftening, approximation);
      for (std::size_t i = 0; i < found.bodies.size(); ++i) {
        const Vector3 a = velocity(expected.bodies[i]);
        ASSERT_LE(length(1.0 / unit * velocity(found.bodies[i]) - a), 1e-5 * length(a))
            << "order " << approximation.order.value_or(0) << ", unit " << unit << ", body " << i;
      }
    }
  }
}

// The moments of these bodies' nodes are so small that some of them underflow. They may not count
// for less than they are.
TEST(SweepForceRange, SmallAndLightSystemsAreAccurate) {
  if (!depends_on_forces()) return;
  const float length = 1e-11f, mass = 1e-12f;
  const double softening = kSoftening * length;
  const Systems start = sphere(1500);
  Systems small = start;
  for (Body& body : small.bodies) {
    body.x *= length, body.y *= length, body.z *= length;
    body.mass *= mass;
  }
  for (const Approximation& approximation : approximations({2, 3, 4, 5}, 2, kTolerance)) {
    const double error =
        error_of(start, accelerations(start, kSoftening, approximation), kSoftening);
    EXPECT_LE(error_of(small, accelerations(small, softening, approximation), softening),
              1.1 * error)
        << "order " << approximation.order.value_or(0);
  }
}

// On a uniform shell without quadrupoles, the errors of most nodes have the same sign. The
// validator must allow them.
TEST(SweepForceRange, PassesOnAUniformShell) {
  if (!depends_on_forces() || is_slow()) return;
  constexpr int kBodies = 4000;
  Systems shell(1, kBodies);
  for (int i = 0; i < kBodies; ++i) {  // a Fibonacci spiral
    const double z = 1 - (2 * i + 1.0) / kBodies, width = std::sqrt(1 - z * z);
    const double turn = 2 * std::numbers::pi * i / std::numbers::phi;
    shell.bodies[static_cast<std::size_t>(i)] =
        rounded({width * std::cos(turn), width * std::sin(turn), z, 0, 0, 0, 1.0 / kBodies});
  }
  for (const Approximation& approximation : approximations({3, 5}, 0, 1e-3f))
    EXPECT_EQ(failed_checks(shell, 0.01, 1, 0.02, ValidationMode::full, approximation), "")
        << "order " << approximation.order.value_or(0);
}

}  // namespace
}  // namespace nbody::test::force_range
