// For any number of bodies, the kernels must agree with a float64 computation for the
// program's ten time steps.
#include "course_program.h"

#include <random>

#include "experiments/on_a_device.h"
#include "physics/reference.h"

namespace course {
namespace {

// Places bodies far apart, because close pairs would move chaotically with a softening length of
// only 3e-5.
std::vector<Body> bodies_apart(int n) {
  std::mt19937 generator(7);
  const auto jitter = [&] { return static_cast<float>(generator() % 1000) * 2e-4f; };
  std::vector<Body> bodies;
  for (int k = 0; k < n; ++k) {
    const auto x = static_cast<float>(k % 8), y = static_cast<float>(k / 8 % 8);
    const float first = x + jitter(), second = y + jitter();
    bodies.push_back({first, second, static_cast<float>(k / 64), jitter(), jitter(), jitter()});
  }
  return bodies;
}

using CourseProgram = experiments::OnADevice<platform, testing::TestWithParam<int>>;

TEST_P(CourseProgram, FollowsFloat64) {
  const auto start = bodies_apart(GetParam());
  const nbody::Check made = check(start);
  EXPECT_FALSE(made.failed()) << made.value;
  auto end = start;
  simulate(end, kSteps);
  std::vector<nbody::Body> bodies;
  for (const Body& b : start) bodies.push_back({b.x, b.y, b.z, b.vx, b.vy, b.vz, 1});
  nbody::ReferenceSystem reference(bodies);
  for (int step = 0; step < kSteps; ++step) reference.advance(kTimeStep, kSofteningSquared);
  for (int i = 0; i < reference.size(); ++i) {
    const Body& body = end[static_cast<std::size_t>(i)];
    EXPECT_NEAR(body.x, reference.position(i).x, 2e-5);
    EXPECT_NEAR(body.y, reference.position(i).y, 2e-5);
    EXPECT_NEAR(body.z, reference.position(i).z, 2e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, CourseProgram, testing::Values(2, 64, 255, 256, 257, 513),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace course
