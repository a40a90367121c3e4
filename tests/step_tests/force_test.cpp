// After one kick from rest with a time step of 1, the velocities equal the accelerations exactly.
#include <gtest/gtest.h>

#include "physics/reference.h"
#include "scenarios/initial_conditions.h"
#include "step_under_test.h"

namespace nbody::test {
namespace {

Systems accelerations(Systems start, double softening) {
  for (Body& body : start.bodies) body.vx = body.vy = body.vz = 0;
  return simulate(start, 1.0, 1, softening);
}

Systems plummer(int systems, int bodies) {
  return make_scenario(find_scenario("galaxies"), {systems, bodies, 42, 0.05}).systems;
}

TEST(Force, OfTwoBodiesIsNewtons) {
  Systems pair(1, 2);
  pair.bodies[0] = {-1, 0, 0, 0, 0, 0, 3};
  pair.bodies[1] = {1, 0, 0, 0, 0, 0, 5};
  const Systems a = accelerations(pair, 1e-4);
  EXPECT_NEAR(a.bodies[0].vx, 5.0 / 4.0, 2e-6);
  EXPECT_NEAR(a.bodies[1].vx, -3.0 / 4.0, 2e-6);
  for (const Body& body : a.bodies) {
    EXPECT_EQ(body.vy, 0);
    EXPECT_EQ(body.vz, 0);
  }
}

TEST(Force, FollowsThePlummerSoftening) {
  Systems pair(1, 2);
  pair.bodies[0] = {0, 0, 0, 0, 0, 0, 0};
  pair.bodies[1] = {0, 3, 0, 0, 0, 0, 2};
  const double softening = 4;  // makes the softened distance 5
  EXPECT_NEAR(accelerations(pair, softening).bodies[0].vy, 2 * 3 / 125.0, 1e-8);
}

TEST(Force, MatchesFloat64InEverySystem) {
  const Systems start = plummer(3, 257);
  const Systems a = accelerations(start, 0.05);
  for (int s = 0; s < start.count; ++s) {
    const ReferenceSystem reference(start.system(s));
    for (int i = 0; i < start.bodies_per_system; ++i) {
      const auto force = reference.force(i, 0.05 * 0.05);
      const Vector3 found = velocity(a.system(s)[static_cast<std::size_t>(i)]);
      ASSERT_LE(length(found - force.acceleration), 3e-6 * force.magnitude)
          << "system " << s << ", body " << i;
    }
  }
}

TEST(Force, OfASingleBodyIsZero) {
  Systems one(2, 1);
  one.bodies[0] = one.bodies[1] = {1, 2, 3, 0.5f, 0.25f, 0, 7};
  const Systems after = simulate(one, 0.5, 2, 0.01);
  for (const Body& body : after.bodies) {
    EXPECT_EQ(body.vx, 0.5f);
    EXPECT_EQ(body.vy, 0.25f);
    EXPECT_EQ(body.x, 1.5f);
    EXPECT_EQ(body.y, 2.25f);
    EXPECT_EQ(body.z, 3.0f);
  }
}

TEST(Force, OfCoincidentBodiesIsFinite) {
  Systems heap(1, 40);
  for (Body& body : heap.bodies) body = {0.5f, -0.25f, 1, 0, 0, 0, 1};
  heap.bodies[39].x = 2.5f;
  const Systems a = accelerations(heap, 1e-12);
  for (int i = 0; i < 39; ++i) EXPECT_NEAR(a.bodies[static_cast<std::size_t>(i)].vx, 0.25f, 1e-6);
  EXPECT_NEAR(a.bodies[39].vx, -39 * 0.25, 1e-4);
}

TEST(Force, OfMasslessBodiesIsNone) {
  Systems start = plummer(1, 100);
  Systems heavy(1, 50);
  for (int i = 0; i < 100; ++i) {
    if (i % 2 == 1) {
      start.bodies[static_cast<std::size_t>(i)].mass = 0;
    } else {
      heavy.bodies[static_cast<std::size_t>(i / 2)] = start.bodies[static_cast<std::size_t>(i)];
    }
  }
  const Systems all = accelerations(start, 0.05), only_heavy = accelerations(heavy, 0.05);
  const ReferenceSystem reference(start.system(0));
  for (int i = 0; i < 100; ++i) {
    const Body& body = all.bodies[static_cast<std::size_t>(i)];
    if (i % 2 == 0) {
      EXPECT_NEAR(body.vx, only_heavy.bodies[static_cast<std::size_t>(i / 2)].vx, 1e-5);
    }
    // Forces also act on massless bodies.
    EXPECT_NEAR(body.vy, reference.force(i, 0.0025).acceleration.y, 1e-5);
  }
}

TEST(Force, SumsToZeroMomentum) {
  const Systems a = accelerations(plummer(1, 1000), 0.05);
  Vector3 sum;
  double scale = 0;
  for (const Body& body : a.bodies) {
    const Vector3 force = body.mass * velocity(body);
    sum += force;
    scale += length(force);
  }
  EXPECT_LE(length(sum), 1e-6 * scale);
}

TEST(Force, KeepsItsBoundInALargeSystem) {
  const bool gpu = step().platform.backend == "cuda";
  // If every node is opened, a tree computes a direct sum, but slowly.
  const bool slow = is_slow() || step().info.approximation;
  const Systems start = plummer(1, gpu ? 65536 : slow ? 2048 : 6144);
  EXPECT_EQ(failed_checks(start, 0.001, 1, 0.05, ValidationMode::sampled), "");
}

}  // namespace
}  // namespace nbody::test
