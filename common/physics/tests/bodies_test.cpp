#include "nbody/bodies.h"

#include <gtest/gtest.h>

#include "nbody/error.h"

namespace nbody {
namespace {

// Every float differs from every other, so that a body in the wrong place shows.
Systems numbered(int count, int bodies) {
  Systems systems(count, bodies);
  float next = 1;
  for (Body& b : systems.bodies)
    for (float* value : {&b.x, &b.y, &b.z, &b.vx, &b.vy, &b.vz, &b.mass}) *value = next++;
  return systems;
}

void expect_same(const Body& a, const Body& b) {
  EXPECT_EQ(a.x, b.x);
  EXPECT_EQ(a.y, b.y);
  EXPECT_EQ(a.z, b.z);
  EXPECT_EQ(a.vx, b.vx);
  EXPECT_EQ(a.vy, b.vy);
  EXPECT_EQ(a.vz, b.vz);
  EXPECT_EQ(a.mass, b.mass);
}

TEST(Padded, AppendsMasslessBodiesToEverySystem) {
  const Systems original = numbered(3, 5);
  const Systems result = padded(original, 4);
  ASSERT_EQ(result.count, 3);
  ASSERT_EQ(result.bodies_per_system, 8);
  ASSERT_EQ(result.bodies.size(), 24u);
  for (int s = 0; s < 3; ++s) {
    for (std::size_t i = 0; i < 5; ++i) expect_same(result.system(s)[i], original.system(s)[i]);
    for (std::size_t i = 5; i < 8; ++i) expect_same(result.system(s)[i], Body{});
  }
}

TEST(Padded, LeavesAMultipleAlone) {
  EXPECT_EQ(padded(numbered(2, 8), 4).bodies_per_system, 8);
  EXPECT_EQ(padded(numbered(2, 5), 1).bodies_per_system, 5);
}

TEST(Padded, RefusesWhatNoIntCanCount) {
  const Systems systems = numbered(3, 1);
  EXPECT_THROW(padded(systems, 1 << 30), UsageError);  // 3 * 2^30
  EXPECT_THROW(padded(systems, 0), std::invalid_argument);
}

TEST(Stripped, UndoesPadded) {
  const Systems original = numbered(3, 5);
  const Systems result = stripped(padded(original, 64), 5);
  ASSERT_EQ(result.count, 3);
  ASSERT_EQ(result.bodies_per_system, 5);
  ASSERT_EQ(result.bodies.size(), 15u);
  for (std::size_t i = 0; i < 15; ++i) expect_same(result.bodies[i], original.bodies[i]);
}

TEST(Stripped, RefusesMoreBodiesThanThereAre) {
  EXPECT_THROW(stripped(numbered(2, 5), 6), std::invalid_argument);
  EXPECT_THROW(stripped(numbered(2, 5), -1), std::invalid_argument);
}

}  // namespace
}  // namespace nbody
