// Tests the step with sizes on both sides of every boundary of its kernels. Every check must pass.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "nbody/tuning.h"
#include "scenarios/initial_conditions.h"
#include "step_under_test.h"

namespace nbody::test {
namespace {

class Sweep : public testing::TestWithParam<int> {};

TEST_P(Sweep, PassesEveryCheck) {
  const int n = GetParam();
  if (is_slow() && n > 1000) GTEST_SKIP() << "too long under a sanitizer";
  const int systems = n > 600 ? 1 : n > 200 ? 2 : 3;  // SweepFullBlocks tests more
  const auto start = make_scenario(find_scenario("galaxies"), {systems, n, 7, 0.05}).systems;
  EXPECT_EQ(failed_checks(start, 0.01, 3, 0.05), "");
}

// Returns sizes around the 32 threads of a warp and around the step's boundaries, and some sizes
// that are not multiples of any tile.
std::set<int> sizes() {
  std::set<int> sizes{1, 2, 3, 31, 33, 257, 1000, 4099};
  for (const int boundary : step().info.boundaries) {
    for (const int n : {boundary - 1, boundary, boundary + 1}) sizes.insert(n);
  }
  return sizes;
}

INSTANTIATE_TEST_SUITE_P(Sweep, Sweep, testing::ValuesIn(sizes()),
                         testing::PrintToStringParamName());

// Thirty-three systems are one more than a warp has threads, one more than 16 streams serve in two
// rounds, and not divisible by 2 or 4 devices.
TEST(SweepSystems, AreIndependent) {
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

// Uses more than fifty systems and more than eight steps; both numbers are odd.
TEST(SweepSystems, AreAllRight) {
  const auto start = make_scenario(find_scenario("galaxies"), {53, 35, 11, 0.05}).systems;
  EXPECT_EQ(failed_checks(start, 0.01, 9, 0.05), "");
}

// On a GPU there is nearly one system per SM, a case that a step may treat differently.
// SweepFullBlocks covers this case for an emulated device. Both numbers of systems are multiples
// of 32.
TEST(SweepSystems, FillADevice) {
  const int systems = step().platform.backend == "cuda" ? 128 : 32;
  const auto start = make_scenario(find_scenario("galaxies"), {systems, 35, 19, 0.05}).systems;
  EXPECT_EQ(failed_checks(start, 0.01, 2, 0.05), "");
}

// There are more systems than eight bits can count, and more bodies in all than sixteen bits can.
// 349 systems are not divisible by 3, 4 or 5 devices, and 192 bodies end with half a tile of 128. A
// tree whose nodes are all opened is too slow for so many bodies.
TEST(SweepSystems, AreMoreThanAByteCounts) {
  const int n = step().info.approximation || is_slow() ? 7 : 192;
  const auto start = make_scenario(find_scenario("galaxies"), {349, n, 29, 0.05}).systems;
  EXPECT_EQ(failed_checks_of_one_step(start, 0.01, 0.05), "");
}

// Tests several systems with the largest blocks; the largest size takes several rounds of blocks.
// Seven systems are nearly one per SM, because the emulated device has eight SMs.
class SweepFullBlocks : public testing::TestWithParam<int> {};

TEST_P(SweepFullBlocks, PassEveryCheck) {
  if (is_slow()) GTEST_SKIP() << "too long under a sanitizer";
  const int n = GetParam(), systems = n > 600 ? 3 : 7;
  const auto start = make_scenario(find_scenario("galaxies"), {systems, n, 31, 0.05}).systems;
  EXPECT_EQ(failed_checks(start, 0.01, 2, 0.05, ValidationMode::sampled), "");
}

INSTANTIATE_TEST_SUITE_P(Systems, SweepFullBlocks,
                         testing::Values(512, 513, 1023, 1024, 1025, 1301),
                         testing::PrintToStringParamName());

// Every body has a different mass here; in of_two_masses(), most tiles have a single mass, whatever
// the tile size. In all shapes the number of tiles is even, so the ring of tiles has two equal
// halves.
Systems of_many_masses() {
  Systems start = make_scenario(find_scenario("galaxies"), {2, 1499, 37, 0.05}).systems;
  for (std::size_t k = 0; k < start.bodies.size(); ++k)
    start.bodies[k].mass *= 1 + static_cast<float>(k) / 1024;
  return start;
}

Systems of_two_masses() {
  Systems start = make_scenario(find_scenario("galaxies"), {1, 1499, 39, 0.05}).systems;
  for (std::size_t k = 0; k < start.bodies.size(); ++k)
    start.bodies[k].mass = k % 3 == 0 ? 1e-3f : 5e-4f;
  return start;
}

// A step that chooses among shapes by a rule must be right in every shape, because on another
// device the rule may choose another shape for the same size. Each of the two sets of masses has
// its own run, because step 12 launches a different kernel if no tile has equal masses.
TEST(SweepShapes, AreAllRight) {
  if (is_slow()) GTEST_SKIP() << "too long under a sanitizer";
  for (const Systems& start : {of_many_masses(), of_two_masses()}) {
    simulate(start, 0.01, 1, 0.05);
    if (!tuning().chosen) GTEST_SKIP() << "this step has one shape";
    const int shapes = tuning().chosen->of;
    const int apart = shapes / 12 + 1;  // dozens of shapes differ only in their chunks
    for (int rank = 0; rank < shapes; rank += apart) {
      tuning().shapes = {{start.count, start.bodies_per_system, rank}};
      EXPECT_EQ(failed_checks_of_one_step(start, 0.01, 0.05), "") << "shape " << rank;
      EXPECT_EQ(tuning().chosen->rank, rank);
    }
    tuning().shapes.clear();
  }
}

// Tests clusters of bodies far from the origin and from each other, with masses from 1e-2 to 1e4.
TEST(SweepRange, FarAndHeavyBodies) {
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
  EXPECT_EQ(failed_checks(start, 0.002, 12, 0.5), "");
}

TEST(SweepRange, BackInTime) {
  const auto start = make_scenario(find_scenario("galaxies"), {3, 65, 61, 0.05}).systems;
  EXPECT_EQ(failed_checks(start, -0.01, 3, 0.05), "");
}

// Massless bodies exert no force, at any position and in any number.
TEST(SweepRange, BodiesWithoutMass) {
  Systems start = make_scenario(find_scenario("galaxies"), {3, 301, 23, 0.05}).systems;
  for (std::size_t k = 0; k < start.bodies.size(); ++k)
    if (k % 5 != 1) start.bodies[k].mass = 0;
  for (Body& body : start.system(1)) body.mass = 0;
  EXPECT_EQ(failed_checks(start, 0.01, 3, 0.05), "");
}

// The system with the fewest massive bodies comes first; each of the following systems has more.
TEST(SweepRange, FewMassiveBodiesFirst) {
  Systems start = make_scenario(find_scenario("galaxies"), {3, 600, 41, 0.05}).systems;
  for (int s = 0; s < 2; ++s)
    for (std::size_t i = 0; i < 600; ++i)
      if (i % 20 >= (s == 0 ? 1 : 9)) start.system(s)[i].mass = 0;
  EXPECT_EQ(failed_checks(start, 0.01, 2, 0.05), "");
}

// Tests the step's float64 version, if it has one, with limits that are more than 100 million times
// narrower than those for float32.
TEST(SweepFloat64, PassesEveryCheck) {
  if (step().info.float64 == nullptr) GTEST_SKIP() << "this step has no float64";
  for (const int n : {1, 33, 257, 513, is_slow() ? 600 : 1301}) {
    const int systems = n > 1000 ? 1 : 3;
    const auto start = make_scenario(find_scenario("galaxies"), {systems, n, 43, 0.05}).systems;
    EXPECT_EQ(failed_checks_in_float64(start, 0.01, 3, 0.05), "") << n << " bodies";
  }
}

TEST(SweepFloat64, IsRightInEveryShape) {
  if (step().info.float64 == nullptr) GTEST_SKIP() << "this step has no float64";
  if (is_slow()) GTEST_SKIP() << "too long under a sanitizer";
  const auto start = make_scenario(find_scenario("galaxies"), {1, 1301, 53, 0.05}).systems;
  tuning().chosen.reset();
  EXPECT_EQ(failed_checks_in_float64(start, 0.01, 1, 0.05), "");
  const int shapes = tuning().chosen ? tuning().chosen->of : 0;
  for (int rank = 1; rank < shapes; ++rank) {
    tuning().shapes = {{1, 1301, rank}};
    EXPECT_EQ(failed_checks_in_float64(start, 0.01, 1, 0.05), "") << "shape " << rank;
    EXPECT_EQ(tuning().chosen->rank, rank);
  }
  tuning().shapes.clear();
}

// The two systems have different numbers of massive bodies.
TEST(SweepFloat64, FewMassiveBodiesFirst) {
  if (step().info.float64 == nullptr) GTEST_SKIP() << "this step has no float64";
  Systems start = make_scenario(find_scenario("galaxies"), {2, 900, 47, 0.05}).systems;
  for (std::size_t i = 0; i < 900; ++i)
    if (i % 3 != 1) start.system(0)[i].mass = 0;
  EXPECT_EQ(failed_checks_in_float64(start, 0.01, 2, 0.05), "");
}

// The number of bodies is odd, one more than a multiple of any tile, and too large for a counter of
// 13 bits (on a GPU: of 16 bits). A sample of bodies is enough for the validator, because its
// body_order check covers all bodies.
Systems many_bodies() {
  const int n = step().platform.backend == "cuda" ? 65537 : 9217;
  return make_scenario(find_scenario("galaxies"), {1, n, 13, 0.05}).systems;
}

TEST(SweepLarge, ManyBodies) {
  if (is_slow()) GTEST_SKIP() << "too long under a sanitizer";
  EXPECT_EQ(
      failed_checks(many_bodies(), 0.01, 1, 0.05, ValidationMode::sampled, own_approximation()),
      "");
}

// The quick tests run this test through hostcuda.
TEST(SweepLarge, OneStepOfManyBodies) {
  if (is_slow()) GTEST_SKIP() << "too long under a sanitizer";
  EXPECT_EQ(failed_checks_of_one_step(many_bodies(), 0.01, 0.05), "");
}

// The quick tests run these tests through hostcuda, too.
class SweepSteps : public testing::TestWithParam<int> {};

TEST_P(SweepSteps, AreAllTaken) {
  if (is_slow()) GTEST_SKIP() << "too long under a sanitizer";
  const auto start = make_scenario(find_scenario("galaxies"), {1, GetParam(), 17, 0.05}).systems;
  EXPECT_EQ(failed_checks(start, 0.01, 9, 0.05, ValidationMode::sampled, own_approximation()), "");
}

INSTANTIATE_TEST_SUITE_P(Large, SweepSteps, testing::Values(1031, 2111),
                         testing::PrintToStringParamName());

// Takes more time steps than twelve bits can count. Two bodies orbit each other, and a third is far
// away.
TEST(SweepSteps, AreMoreThanTwelveBitsCount) {
  Systems start(1, 3);
  start.bodies[0] = {-0.5f, 0, 0, 0, -0.7f, 0, 1};
  start.bodies[1] = {0.5f, 0, 0, 0, 0.7f, 0, 1};
  start.bodies[2] = {0, 0, 9, 0.5f, 0, 0, 0.125f};
  EXPECT_EQ(failed_checks(start, 0.001, 4099, 0.05), "");
}

}  // namespace
}  // namespace nbody::test
