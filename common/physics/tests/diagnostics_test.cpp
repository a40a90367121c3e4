#include "physics/diagnostics.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>

#include "scenarios/initial_conditions.h"

namespace nbody {
namespace {

void expect_vector(const Vector3& value, const Vector3& expected) {
  EXPECT_DOUBLE_EQ(value.x, expected.x);
  EXPECT_DOUBLE_EQ(value.y, expected.y);
  EXPECT_DOUBLE_EQ(value.z, expected.z);
}

TEST(Diagnose, TwoBodiesByHand) {
  // The distance is |(3, 4, 0)| = 5 and the softening 12, so the softened distance is 13.
  const std::vector<Body> bodies = {{0, 0, 0, 1, 2, 3, 2}, {3, 4, 0, 0, -1, 0, 4}};
  const Diagnostics found = diagnose(bodies, 12);
  EXPECT_DOUBLE_EQ(found.kinetic, 0.5 * 2 * 14 + 0.5 * 4);
  EXPECT_DOUBLE_EQ(found.potential, -2.0 * 4 / 13);
  EXPECT_DOUBLE_EQ(found.energy(), 16 - 8.0 / 13);
  EXPECT_DOUBLE_EQ(found.virial_ratio(), 32 / (8.0 / 13));
  expect_vector(found.momentum, {2, 0, 6});
  expect_vector(found.angular_momentum, {0, 0, -12});
  EXPECT_FALSE(found.potential_is_sampled());
}

TEST(Diagnose, Float64BodiesAreNotRounded) {
  const std::vector<BodyF64> bodies = {{0, 0, 0, 1 + 1e-12, 0, 0, 2}, {3, 4, 0, 0, 0, 0, 4}};
  EXPECT_NEAR(diagnose(bodies, 12).kinetic - 1, 2e-12, 1e-15);
  EXPECT_DOUBLE_EQ(diagnose(bodies, 12).potential, -8.0 / 13);
  const std::vector<BodyF64> one = {{1 + 1e-12, 0, 0, 0, 0, 0, 2}};
  EXPECT_NEAR(shape_of(one).centre.x - 1, 1e-12, 1e-15);
}

TEST(Diagnose, SystemsAreAddedAndDoNotPullAtEachOther) {
  Systems systems(2, 2);
  systems.bodies = {
      {0, 0, 0, 1, 2, 3, 2}, {3, 4, 0, 0, -1, 0, 4}, {0, 0, 0, 1, 2, 3, 2}, {3, 4, 0, 0, -1, 0, 4}};
  const Diagnostics both = diagnose(systems, 12), one = diagnose(systems.system(0), 12);
  EXPECT_DOUBLE_EQ(both.energy(), 2 * one.energy());
  expect_vector(both.angular_momentum, {0, 0, -24});
}

TEST(Diagnose, GivesTheSameBitsWithAnyNumberOfThreads) {
  const auto plummer = make_scenario(find_scenario("plummer"), {1, 500, 1, 0.05});
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const double alone = diagnose(plummer.systems, 0.05).potential;
  for (const int count : {2, 3, 5}) {
    omp_set_num_threads(count);
    EXPECT_EQ(diagnose(plummer.systems, 0.05).potential, alone) << count;
  }
  omp_set_num_threads(threads);
}

TEST(Diagnose, SaysWhenThePotentialIsSampled) {
  const auto plummer = make_scenario(find_scenario("plummer"), {1, 2000, 1, 0.05});
  const Diagnostics all = diagnose(plummer.systems, 0.05);
  const Diagnostics some = diagnose(plummer.systems, 0.05, 1e6);
  EXPECT_FALSE(all.potential_is_sampled());
  EXPECT_TRUE(some.potential_is_sampled());
  EXPECT_NEAR(some.potential / all.potential, 1, 0.05);
  EXPECT_NE(some.potential, all.potential);
}

TEST(ShapeOf, TenBodiesOnALineThatIsNotAtTheOrigin) {
  std::vector<Body> bodies;
  for (int i = 0; i < 10; ++i) {
    // Adds pairs of bodies at distances 1, 2, 3, 4 and 5 from (100, 7, -3).
    bodies.push_back(
        {100 + static_cast<float>((i / 2 + 1) * (i % 2 == 0 ? 1 : -1)), 7, -3, 0, 0, 0, 0.1f});
  }
  bodies.push_back({1e6f, 0, 0, 0, 0, 0, 0});  // massless, so it must not change a radius
  const Shape shape = shape_of(bodies);
  EXPECT_NEAR(shape.centre.x, 100, 1e-12);
  EXPECT_NEAR(shape.centre.y, 7, 1e-12);
  EXPECT_NEAR(shape.centre.z, -3, 1e-12);
  const double expected[] = {1, 2, 3, 4, 5};  // radii of 10, 25, 50, 75 and 90 % of the mass
  for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(shape.lagrangian_radii[k], expected[k], 1e-12);
}

TEST(ShapeOf, AHeavyBodyIsTheCentre) {
  const std::vector<Body> bodies = {{1, 0, 0, 0, 0, 0, 97}, {101, 0, 0, 0, 0, 0, 3}};
  const Shape shape = shape_of(bodies);
  EXPECT_DOUBLE_EQ(shape.centre.x, 4);
  for (const double radius : shape.lagrangian_radii) EXPECT_DOUBLE_EQ(radius, 3);
}

// The mass inside radius r is M(r) = r^3 / (r^2 + a^2)^(3/2), so the fraction f of the mass lies
// inside the radius a / sqrt(f^(-2/3) - 1) (Aarseth, Henon & Wielen 1974, eq. A2; a = 3 pi / 16 in
// the units of the scenario).
TEST(ShapeOf, APlummerSphereHasItsLagrangianRadii) {
  const auto plummer = make_scenario(find_scenario("plummer"), {1, 20000, 1, 0.001});
  const Shape shape = shape_of(plummer.systems.system(0));
  for (std::size_t k = 0; k < kLagrangianFractions.size(); ++k) {
    const double expected =
        3 * M_PI / 16 / std::sqrt(std::pow(kLagrangianFractions[k], -2.0 / 3) - 1);
    EXPECT_NEAR(shape.lagrangian_radii[k] / expected, 1, 0.04) << kLagrangianFractions[k];
  }
}

TEST(ShapeOf, NoMassHasNoShape) {
  const std::vector<Body> bodies(3, Body{1, 2, 3, 0, 0, 0, 0});
  EXPECT_EQ(shape_of(bodies).centre.x, 0);
  EXPECT_EQ(shape_of(bodies).lagrangian_radii[4], 0);
}

}  // namespace
}  // namespace nbody
