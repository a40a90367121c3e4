// Tests a step that traverses a tree at opening angles above 0. Its error must stay within the
// measured limits (physics/force_error.cpp), whatever the shape of the system.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "physics/force_error.h"
#include "physics/reference.h"
#include "scenarios/initial_conditions.h"
#include "step_under_test.h"

namespace nbody::test {
namespace {

constexpr double kSoftening = 0.05;

Systems sphere(int systems, int bodies) {
  return make_scenario(find_scenario("plummer"), {systems, bodies, 42, kSoftening}).systems;
}

// Returns the errors of the accelerations, as in physics/force_error.h.
ErrorLimit error_of(const Systems& start, Approximation approximation) {
  Systems kicked = start;
  for (Body& body : kicked.bodies) body.vx = body.vy = body.vz = 0;
  kicked = simulate(kicked, 1, 1, kSoftening, Integrator::euler, approximation);
  const ReferenceSystem reference(start.system(0));
  double squares = 0, scale = 0;
  std::vector<double> relative;
  for (int i = 0; i < start.bodies_per_system; ++i) {
    const auto force = reference.force(i, kSoftening * kSoftening);
    const Body& body = kicked.bodies[static_cast<std::size_t>(i)];
    const double error = length(velocity(body) - force.acceleration);
    squares += error * error;
    scale += force.magnitude * force.magnitude;
    relative.push_back(error / force.magnitude);
  }
  std::sort(relative.begin(), relative.end());
  return {std::sqrt(squares / scale), relative[(relative.size() - 1) * 99 / 100]};
}

struct Angle {
  Approximation approximation;
  double error;  // RMS over 1500 bodies of a sphere. The limits are for the worst shape.
};

class SweepOpening : public testing::TestWithParam<Angle> {
 protected:
  Approximation angle_ = GetParam().approximation;
};

TEST_P(SweepOpening, PassesEveryCheck) {
  for (const int n : {40, 700})
    EXPECT_EQ(failed_checks(sphere(n < 100 ? 3 : 1, n), 0.01, 3, kSoftening, ValidationMode::full,
                            angle_),
              "");
}

// A smaller angle must reduce the error, and so must a quadrupole; otherwise the option has no
// effect. If there is no error at all, no bodies were grouped.
TEST_P(SweepOpening, ErrsAsMuchAsMeasured) {
  const ErrorLimit error = error_of(sphere(1, 1500), angle_), limit = error_limit(angle_);
  EXPECT_LE(error.rms, limit.rms);
  EXPECT_LE(error.p99, limit.p99);
  EXPECT_LE(error.rms, 1.5 * GetParam().error);
  EXPECT_GE(error.rms, GetParam().error / 1.5);
}

TEST_P(SweepOpening, TakesNoShapeAmiss) {
  const int n = 100;
  const auto check = [&](const char* shape, const auto& place) {
    Systems systems(1, n);
    for (int i = 0; i < n; ++i) {
      const Vector3 x = place(i);
      systems.bodies[static_cast<std::size_t>(i)] = rounded({x.x, x.y, x.z, 0, 0, 0, 1.0 + i % 3});
    }
    EXPECT_EQ(failed_checks(systems, 1e-3, 2, kSoftening, ValidationMode::full, angle_), "")
        << shape;
  };
  check("all in one place", [](int) { return Vector3{0.5, -0.25, 3}; });
  check("all but one", [](int i) { return Vector3{i == 70 ? 2.0 : 0.5, -0.25, 3}; });
  check("on a line", [](int i) { return Vector3{0, i * 0.01, 0}; });
  check("on a line aslant", [](int i) { return Vector3{i * 0.1, i * 0.2, i * -0.3}; });
  check("two clusters far apart", [](int i) {
    const Vector3 x{i % 7 * 0.5, i % 5 * 0.5, i % 3 * 0.5};
    return i % 2 == 0 ? x : x + Vector3{1e6, 0, 0};
  });
}

// A distant body feels all other bodies like one point that has their total mass and lies at their
// centre of mass, so the root node must have the right mass and the right centre.
TEST_P(SweepOpening, KeepsMassAndItsCentre) {
  Systems start = sphere(1, 700);
  for (std::size_t i = 0; i < start.bodies.size(); ++i)
    start.bodies[i].mass = 0.001f * static_cast<float>(1 + i % 9);
  Vector3 centre;
  double mass = 0;
  for (const Body& b : start.bodies) {
    mass += b.mass;
    centre += b.mass * position(b);
  }
  centre = 1 / mass * centre;
  // There are so many massless bodies that some warps hold only massless ones.
  const Vector3 places[] = {{9000, 0, 0}, {0, -9000, 0}, {3000, 0, 9000}};
  constexpr int kEach = 300;
  for (const Vector3& x : places)
    for (int k = 0; k < kEach; ++k)
      start.bodies.push_back(rounded({x.x + k, x.y, x.z, 0, 0, 0, 0}));
  start.bodies_per_system = static_cast<int>(start.bodies.size());
  for (Body& body : start.bodies) body.vx = body.vy = body.vz = 0;
  const double kick = 1e6;
  const Systems end = simulate(start, kick, 1, kSoftening, Integrator::euler, angle_);
  for (std::size_t k = 700; k < end.bodies.size(); ++k) {
    const Body &from = start.bodies[k], &to = end.bodies[k];
    const Vector3 d = centre - position(from);
    const Vector3 expected = kick * mass / std::pow(dot(d, d), 1.5) * d;
    ASSERT_LE(length(velocity(to) - expected), 1e-6 * length(expected)) << k;
  }
}

// In a pair of galaxies, most of the forces on a body cancel, so the error that the tolerance
// allows is large compared with the acceleration that remains.
TEST(SweepTolerance, PassesWhereForcesCancel) {
  const auto& own = step().info.approximation;
  if (!own || !own->force_tolerance) return;
  const Systems pair = make_scenario(find_scenario("galaxies"), {1, 3000, 42, kSoftening}).systems;
  EXPECT_EQ(failed_checks(pair, 0.01, 1, kSoftening, ValidationMode::full, {1, 2, 5e-4f}), "");
}

// Tests bodies on a line, where nearly all forces cancel. The validator builds step 15's tree
// itself, in float64, so it must be able to decide every check, even at the largest angle.
TEST(SweepAngle, IsDecidedOnALine) {
  const auto& own = step().info.approximation;
  if (!own || own->force_tolerance) return;
  Systems line(1, 100);
  for (int k = 0; k < 100; ++k) {
    const float at = 0.01f * static_cast<float>(k) - 0.5f;
    line.bodies[static_cast<std::size_t>(k)] = {at, 0.3f * at, 0.1f * at, 0, 0, 0, 0.01f};
  }
  const Validation found =
      validated(line, 0.01, 1, kSoftening, ValidationMode::full, Integrator::euler, {1, 2, {}});
  EXPECT_FALSE(found.failed());
  for (const Check& check : found.checks)
    EXPECT_TRUE(check.decided) << check.name << ": " << check.open;
}

// The groups that share a series may have another size for each order.
TEST(SweepSeries, OfEveryOrderIsChecked) {
  const auto& own = step().info.approximation;
  if (!own || !own->order) return;
  for (int order = 2; order <= 5; ++order) {
    Approximation of_order = *own;
    of_order.order = order;
    const Validation found = validated(sphere(1, 300), 0.01, 1, kSoftening, ValidationMode::full,
                                       Integrator::euler, of_order);
    EXPECT_FALSE(found.failed()) << order;
    const auto series = std::ranges::find(found.checks, "series", &Check::name);
    ASSERT_NE(series, found.checks.end()) << order;
    EXPECT_EQ(series->open, "") << order;
  }
}

// In a second time step with the tree of the first, all bodies are elsewhere. Nodes that keep their
// old moments, or that act from as near as before, would give wrong forces.
TEST(SweepKeptTree, HasNewMoments) {
  const auto& own = step().info.approximation;
  if (!own || !own->rebuild_every) return;
  constexpr int kBodies = 1500;
  Systems start = sphere(1, kBodies);
  for (std::size_t i = 0; i < start.bodies.size(); ++i) {
    Body& body = start.bodies[i];
    const Body& place = start.bodies[7 * (i + 1) % kBodies];
    body.vx = place.x - body.x, body.vy = place.y - body.y, body.vz = place.z - body.z;
  }
  Approximation kept = *own;
  kept.rebuild_every = 2;
  const auto after = [&](int steps, const Approximation& approximation) {
    return simulate(start, 1, steps, kSoftening, Integrator::euler, approximation);
  };
  const Systems one = after(1, *own), two = after(2, kept), anew = after(2, *own);
  const ReferenceSystem reference(one.system(0));
  double squares = 0, scale = 0;
  bool is_kept = false;
  for (int i = 0; i < kBodies; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const auto force = reference.force(i, kSoftening * kSoftening);
    const double error =
        length(velocity(two.bodies[k]) - velocity(one.bodies[k]) - force.acceleration);
    squares += error * error;
    scale += force.magnitude * force.magnitude;
    is_kept |= two.bodies[k].vx != anew.bodies[k].vx;
  }
  EXPECT_LE(std::sqrt(squares / scale), error_limit(*own).rms);
  EXPECT_TRUE(is_kept);
}

std::vector<Angle> angles() {
  if (!step().info.approximation) return {};
  if (step().info.approximation->force_tolerance) {
    // In the middle of the errors of steps 15b to 16, which estimate |a| in different ways.
    return {{{1, 2, 5e-4f}, 4.1e-5},
            {{1, 2, 5e-3f}, 2.0e-4},
            {{1, 0, 5e-3f}, 4.9e-4},
            {{0.3f, 2, 1}, 2.7e-5}};
  }
  return {{{0.3f, 2}, 2.4e-5}, {{0.6f, 2}, 4.6e-4}, {{0.6f, 0}, 2.2e-3}, {{0.9f, 2}, 2.8e-3}};
}
INSTANTIATE_TEST_SUITE_P(Angles, SweepOpening, testing::ValuesIn(angles()), [](const auto& of) {
  const Approximation& angle = of.param.approximation;
  // The angles are positive. NOLINTNEXTLINE(bugprone-incorrect-roundings)
  const auto whole = [](float x) { return std::to_string(static_cast<int>(x + 0.5f)); };
  const auto& tolerance = angle.force_tolerance;
  return "theta" + whole(10 * angle.theta) + "_multipole" + std::to_string(angle.multipole) +
         (tolerance ? "_tolerance" + whole(1e4f * *tolerance) : "");
});
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SweepOpening);

}  // namespace
}  // namespace nbody::test
