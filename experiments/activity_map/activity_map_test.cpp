// Every variant must move the bodies as a program with float64 sums does, and its map must
// be the histogram of the bodies' positions.
#include "check.h"
#include "experiments/on_a_device.h"
#include "physics/reference.h"

namespace activity {
namespace {

using EveryRung = experiments::OnADevice<platform, testing::TestWithParam<Rung>>;

// The sizes are close to the sizes of a warp and a block; the maps have fewer or more cells than
// bodies.
TEST_P(EveryRung, PassesItsCheck) {
  for (const int n : {1, 31, 33, 256, 300}) {
    for (const int cells : {1, 10, 33}) {
      const Problem problem = problem_of(cells, 3);
      const auto start = uniform_bodies(n);
      const auto outcome = simulate(GetParam(), GetParam().block, problem, start);
      for (const auto& made : check(GetParam(), GetParam().block, problem, start, outcome)) {
        EXPECT_FALSE(made.failed())
            << made.name << ' ' << made.value << ", N " << n << ", D " << cells;
      }
    }
  }
}

TEST_P(EveryRung, FollowsFloat64ForTwentySteps) {
  if (GetParam().name == "map_alone") GTEST_SKIP() << "no forces";
  const Problem problem = problem_of(8, 20);
  const auto start = uniform_bodies(100);
  const auto end = simulate(GetParam(), 64, problem, start).bodies;
  std::vector<nbody::Body> bodies;
  for (const Body2d& b : start) bodies.push_back({b.x, b.y, 0, b.vx, b.vy, 0, b.mass});
  nbody::ReferenceSystem reference(bodies);
  for (int step = 0; step < problem.steps; ++step) {
    reference.advance(problem.dt, problem.softening_squared);
  }
  for (int i = 0; i < reference.size(); ++i) {
    const auto& body = end[static_cast<std::size_t>(i)];
    EXPECT_NEAR(body.x, reference.position(i).x, 2e-6);
    EXPECT_NEAR(body.y, reference.position(i).y, 2e-6);
  }
}

// Compares the map of the last step with a map made by hand: x runs along a row, and y runs
// upwards. The map must contain neither counts of earlier steps nor bodies outside the square.
TEST_P(EveryRung, CountsBodiesWhereTheyEnd) {
  Problem problem = problem_of(4, 2);
  problem.extent = 2;
  problem.dt = 1;
  // Without mass there is no force, so each body moves by twice its velocity.
  const std::vector<Body2d> start = {{-1.5f, 0.5f, 1, 0, 0},     // moves to (0.5, 0.5)
                                     {-2.0f, -2.0f, 0, 0, 0},    // stays on the lower edge, inside
                                     {2.0f, 0.0f, 0, 0, 0},      // stays on the upper edge, outside
                                     {0.0f, 0.0f, 0, 0.5f, 0},   // moves to (0, 1)
                                     {0.0f, 1.5f, 0, 1, 0},      // leaves the square
                                     {1e30f, -1e30f, 0, 0, 0}};  // stays far outside
  const auto map = simulate(GetParam(), 32, problem, start).map;
  std::vector<float> expected(16, 0.0f);
  for (const std::size_t cell : {2 * 4 + 2, 0, 3 * 4 + 2}) expected[cell] = 1 / 6.0f;
  EXPECT_EQ(map, expected);
}

INSTANTIATE_TEST_SUITE_P(Activity, EveryRung, testing::ValuesIn(rungs().begin(), rungs().end()),
                         [](const auto& rung) { return std::string(rung.param.name); });

// All blocks add to one cell at once. If the additions are not atomic, some bodies are lost.
using ActivityMapOfACrowd = experiments::OnADevice<platform>;
TEST_F(ActivityMapOfACrowd, LosesNobody) {
  const int n = 1 << 20;
  const std::vector<Body2d> start(static_cast<std::size_t>(n), Body2d{});
  for (const Rung& rung : rungs()) {
    if (rung.name != "map_alone") continue;
    const auto map = simulate(rung, rung.block, problem_of(1, 2), start).map;
    EXPECT_EQ(map, std::vector<float>{1.0f});
  }
}

}  // namespace
}  // namespace activity
