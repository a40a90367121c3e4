// Sizes on both sides of every boundary of the step's kernels, each held to every gate.
#include <gtest/gtest.h>

#include <set>

#include "scenarios/initial_conditions.h"
#include "step_under_test.h"

namespace nbody::test {
namespace {

class Ladder : public testing::TestWithParam<int> {};

TEST_P(Ladder, PassesEveryGate) {
  const int n = GetParam();
  if (is_slow() && n > 1000) GTEST_SKIP() << "too long under a sanitizer";
  const int systems = n > 1000 ? 1 : 3;
  const auto start = make_scenario(find_scenario("galaxies"), {systems, n, 7, 0.05}).systems;
  EXPECT_EQ(failed_gates(start, 0.01, 3, 0.05), "");
}

// Around a warp, around what the step itself names, and some that are a multiple of nothing.
std::set<int> sizes() {
  std::set<int> sizes{1, 2, 31, 33, 257, 1000, 4099};
  for (const int boundary : step().info.boundaries) {
    for (const int n : {boundary - 1, boundary, boundary + 1}) sizes.insert(n);
  }
  return sizes;
}

INSTANTIATE_TEST_SUITE_P(Ladder, Ladder, testing::ValuesIn(sizes()),
                         testing::PrintToStringParamName());

// Thirty-three systems: one more than a warp has threads, and than the streams of a step serve in
// two rounds; a remainder on 2 and on 4 devices. No system may touch another.
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

}  // namespace
}  // namespace nbody::test
