// Sizes on both sides of every boundary of the step's kernels, each held to every gate.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "scenarios/initial_conditions.h"
#include "step_under_test.h"

namespace nbody::test {
namespace {

class Ladder : public testing::TestWithParam<int> {};

TEST_P(Ladder, PassesEveryGate) {
  const int n = GetParam();
  if (is_slow() && n > 1000) GTEST_SKIP() << "too long under a sanitizer";
  const int systems = n > 1000 ? 1 : n > 300 ? 2 : 3;
  const auto start = make_scenario(find_scenario("galaxies"), {systems, n, 7, 0.05}).systems;
  EXPECT_EQ(failed_gates(start, 0.01, 3, 0.05), "");
}

// Around a warp, around the sizes that the step itself names, and some that no tile divides.
std::set<int> sizes() {
  std::set<int> sizes{1, 2, 3, 31, 33, 257, 1000, 4099};
  for (const int boundary : step().info.boundaries) {
    for (const int n : {boundary - 1, boundary, boundary + 1}) sizes.insert(n);
  }
  return sizes;
}

INSTANTIATE_TEST_SUITE_P(Ladder, Ladder, testing::ValuesIn(sizes()),
                         testing::PrintToStringParamName());

// Thirty-three systems: one more than a warp has threads, one more than 16 streams serve in two
// rounds, and no multiple of 2 or 4 devices.
TEST(LadderSystems, AreIndependent) {
  const int systems = 33, n = 65;
  const auto start = make_scenario(find_scenario("galaxies"), {systems, n, 3, 0.05}).systems;
  const Systems together = simulate(start, 0.01, 3, 0.05);
  for (int s = 0; s < systems; ++s) {
    Systems alone(1, n);
    std::copy(start.system(s).begin(), start.system(s).end(), alone.bodies.begin());
    alone = simulate(alone, 0.01, 3, 0.05);
    for (std::size_t i = 0; i < alone.bodies.size(); ++i) {
      ASSERT_NEAR(together.system(s)[i].x, alone.bodies[i].x, 1e-6) << "system " << s;
      ASSERT_NEAR(together.system(s)[i].vz, alone.bodies[i].vz, 1e-6) << "system " << s;
    }
  }
}

// More than fifty systems, more than eight steps, and neither a round number.
TEST(LadderSystems, AreAllRight) {
  const auto start = make_scenario(find_scenario("galaxies"), {53, 35, 11, 0.05}).systems;
  EXPECT_EQ(failed_gates(start, 0.01, 9, 0.05), "");
}

// One system for nearly every SM: a step may have another way for so many.
TEST(LadderSystems, FillADevice) {
  const auto start = make_scenario(find_scenario("galaxies"), {131, 35, 19, 0.05}).systems;
  EXPECT_EQ(failed_gates(start, 0.01, 2, 0.05), "");
}

// Clusters of bodies far from the origin and from each other, with masses from 1e-2 to 1e4.
TEST(LadderRange, FarAndHeavyBodies) {
  Systems start = make_scenario(find_scenario("galaxies"), {2, 203, 5, 0.05}).systems;
  const float centres[][3] = {{0, 0, 0}, {70, -3, 1}, {-1500, 900, 20}, {5, 110, -4000}};
  for (std::size_t k = 0; k < start.bodies.size(); ++k) {
    Body& body = start.bodies[k];
    const auto& centre = centres[k % 4];
    body.x = 3 * body.x + centre[0];
    body.y = 3 * body.y + centre[1];
    body.z = 3 * body.z + centre[2];
    body.mass = std::pow(10.0f, static_cast<float>(k % 7) - 2);
  }
  EXPECT_EQ(failed_gates(start, 0.002, 12, 0.5), "");
}

// Bodies without mass exert no force, wherever they stand and however many they are.
TEST(LadderRange, BodiesWithoutMass) {
  Systems start = make_scenario(find_scenario("galaxies"), {3, 301, 23, 0.05}).systems;
  for (std::size_t k = 0; k < start.bodies.size(); ++k)
    if (k % 5 != 1) start.bodies[k].mass = 0;
  for (Body& body : start.system(1)) body.mass = 0;
  EXPECT_EQ(failed_gates(start, 0.01, 3, 0.05), "");
}

// An odd number of bodies above every power of two a counter may have been cut to. The validator's
// sample is enough: that forces do not depend on the place of a body, it checks for all of them.
Systems many_bodies() {
  const int n = step().platform.backend == "cuda" ? 65537 : 8219;
  return make_scenario(find_scenario("galaxies"), {1, n, 13, 0.05}).systems;
}

TEST(LadderLarge, ManyBodies) {
  if (is_slow()) GTEST_SKIP() << "too long under a sanitizer";
  EXPECT_EQ(
      failed_gates(many_bodies(), 0.01, 1, 0.05, ValidationMode::sampled, own_approximation()), "");
}

// By day, through hostcuda.
TEST(LadderLarge, OneStepOfManyBodies) {
  if (is_slow()) GTEST_SKIP() << "too long under a sanitizer";
  EXPECT_EQ(failed_gates_of_one_step(many_bodies(), 0.01, 0.05), "");
}

// By day, through hostcuda, fewer.
class LadderSteps : public testing::TestWithParam<int> {};

TEST_P(LadderSteps, AreAllTaken) {
  if (is_slow()) GTEST_SKIP() << "too long under a sanitizer";
  const auto start = make_scenario(find_scenario("galaxies"), {1, GetParam(), 17, 0.05}).systems;
  EXPECT_EQ(failed_gates(start, 0.01, 9, 0.05, ValidationMode::sampled, own_approximation()), "");
}

INSTANTIATE_TEST_SUITE_P(Large, LadderSteps, testing::Values(1031, 2111),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace nbody::test
