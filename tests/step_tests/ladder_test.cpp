// Sizes on both sides of every boundary a kernel could have, each held to every gate.
#include <gtest/gtest.h>

#include "nbody/initial_conditions.h"
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

INSTANTIATE_TEST_SUITE_P(Ladder, Ladder,
                         testing::Values(1, 2, 31, 33, 255, 256, 257, 511, 513, 1000, 1023, 1025,
                                         4099),
                         testing::PrintToStringParamName());

// Thirty-three systems is one more than a warp has threads; no system may touch another.
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
