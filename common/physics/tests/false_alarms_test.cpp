// Tests the checks with correct programs that they once rejected, and with wrong programs that are
// like them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <stdexcept>

#include "physics/force_error.h"
#include "physics/validation.h"
#include "physics/validation/tree_reference.h"

namespace nbody::false_alarms {
namespace {

constexpr float kSoftening = 0.01f;  // relative to the size of a cloud

// Bodies of mass `mass` at rest, with coordinates of up to `size`.
Systems cloud(int bodies, float mass, float size) {
  Systems systems(1, bodies);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> drawn(-size, size);
  for (Body& b : systems.bodies) b = {drawn(random), drawn(random), drawn(random), 0, 0, 0, mass};
  return systems;
}

// Returns a program that adds forces in float32. The sources are in the order of `order`, and the
// force on body i is multiplied by factor(i).
Advance<float> summing(
    float softening, const std::function<float(std::size_t)>& factor,
    const std::function<void(std::span<Body>)>& order = [](std::span<Body>) {}) {
  return [=](Systems& systems, double dt, int steps) {
    for (int step = 0; step < steps; ++step) {
      for (int s = 0; s < systems.count; ++s) {
        std::vector<Body> sources(systems.system(s).begin(), systems.system(s).end());
        order(sources);
        for (std::size_t i = 0; i < sources.size(); ++i) {
          Body& body = systems.system(s)[i];
          float a[3] = {};
          for (const Body& other : sources) {
            const float d[] = {other.x - body.x, other.y - body.y, other.z - body.z};
            const float inverse =
                1 / std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening * softening);
            const float w = other.mass * inverse * inverse * inverse;
            for (int k = 0; k < 3; ++k) a[k] += w * d[k];
          }
          const float time = static_cast<float>(dt) * factor(i);
          body.vx += time * a[0], body.vy += time * a[1], body.vz += time * a[2];
        }
      }
      for (Body& b : systems.bodies) {
        b.x += static_cast<float>(dt) * b.vx;
        b.y += static_cast<float>(dt) * b.vy;
        b.z += static_cast<float>(dt) * b.vz;
      }
    }
  };
}
float right(std::size_t) { return 1; }

Validation validated(const Systems& start, float softening, const Advance<float>& advance,
                     double dt = 1e-3) {
  Systems end = start;
  advance(end, dt, 2);
  return validate<float>({Summation::running, dt, 2, softening * softening, start, end},
                         ValidationMode::full, advance);
}
void expect_every_check_passed(const Validation& validation) {
  for (const Check& check : validation.checks)
    EXPECT_FALSE(check.failed()) << check.name << ' ' << check.value << " > " << check.limit;
}
Check check(const Validation& validation, const std::string& name) {
  for (const Check& check : validation.checks)
    if (check.name == name) return check;
  throw std::out_of_range(name);
}

// Each of these pairs of mass and size leads to numbers that are zero or not exact in float32.
TEST(FalseAlarms, ForcesOutsideTheRangeAreUndecided) {
  for (const auto& [mass, size] :
       {std::pair(1e-30f, 1e4f), {1e-30f, 1e10f}, {1e-42f, 1.0f}, {1e30f, 1e20f}, {1e25f, 1e14f}}) {
    const float softening = kSoftening * size;
    const Advance<float> advance = summing(softening, right);
    const Validation validation = validated(cloud(100, mass, size), softening, advance);
    expect_every_check_passed(validation);
    if (size == 1e14f) continue;  // out of range only if the cube comes before the mass
    EXPECT_FALSE(check(validation, "acceleration_rms").decided) << mass << ' ' << size;
    EXPECT_FALSE(check(validation, "acceleration_p99").decided) << mass << ' ' << size;
  }
}

// All forces are small here, but none is too small.
TEST(FalseAlarms, WeakForcesInTheRangeExcuseNothing) {
  constexpr float kSize = 1e10f;
  const auto one_weaker = [](std::size_t i) { return i == 7 ? 0.99f : 1.0f; };
  const auto all_weaker = [](std::size_t) { return 0.99999f; };
  const Systems start = cloud(300, 1e-5f, kSize);
  const auto of = [&](const auto& factor) {
    return validated(start, kSoftening * kSize, summing(kSoftening * kSize, factor));
  };
  EXPECT_FALSE(of(right).failed());
  EXPECT_TRUE(check(of(right), "acceleration_rms").decided);
  EXPECT_TRUE(check(of(one_weaker), "acceleration_worst").failed());
  EXPECT_TRUE(check(of(all_weaker), "acceleration_rms").failed());
}

// Of two systems, the forces of only one are in the range; the error of these is nearer its limit.
TEST(FalseAlarms, ASystemOutsideTheRangeIsNotForgotten) {
  Systems start(2, 50);
  std::ranges::copy(cloud(50, 1, 1).bodies, start.system(0).begin());
  std::ranges::copy(cloud(50, 1e-30f, 1e4f).bodies, start.system(1).begin());
  const auto of = [&](float factor) {
    return validated(start, kSoftening, summing(kSoftening, [=](auto) { return factor; }));
  };
  expect_every_check_passed(of(1));
  EXPECT_TRUE(check(of(1), "acceleration_rms").open.starts_with("the limit has grown to"));
  EXPECT_TRUE(check(of(1.00001f), "acceleration_rms").failed());
}

// In each call, this program adds the forces in another order, as with atomics.
TEST(FalseAlarms, SumsMayLoseOtherForcesInEachCall) {
  Systems start = cloud(600, 1e-7f, 1);
  start.bodies[0] = {0, 0, 0, 0, 0, 0, 1};
  std::mt19937 random(2);
  const auto shuffled = [&](std::span<Body> sources) {
    std::shuffle(sources.begin(), sources.end(), random);
  };
  const Validation atomic = validated(start, 0.05f, summing(0.05f, right, shuffled), 1e-4);
  expect_every_check_passed(atomic);
  EXPECT_GT(check(atomic, "kick_drift").limit, 1e-6) << "nothing was lost, so this tests nothing";
  EXPECT_LT(check(atomic, "kick_drift").limit, 2e-5);
  EXPECT_EQ(check(atomic, "composition").limit, check(atomic, "kick_drift").limit);
  // This program takes a kick of another length in each run, but is the same in each call.
  Systems end = start;
  const Advance<float> same = summing(0.05f, right);
  const Advance<float> longer = [&](Systems& systems, double dt, int steps) {
    same(systems, dt == 1 ? dt : dt * (1 + 4e-6), steps);
  };
  EXPECT_TRUE(check(validated(start, 0.05f, longer, 1e-4), "kick_drift").failed());
}

// Far from the origin, the centres of nodes are rounded to the last digit of large coordinates.
// With a large softening a force is m d / eps^3, so an error of d counts relative to d.
TEST(FalseAlarms, ATreeFarFromTheOriginMayRoundItsCentres) {
  constexpr float kFar = 1000, kEpsilon = 300;
  Systems line = cloud(400, 1.0f / 400, 1);
  for (Body& body : line.bodies) body.x += kFar, body.y = kFar, body.z = 0;
  const TreeReference tree(line.system(0), {16, 32}, 0.6f);
  const ReferenceSystem direct(line.system(0));
  double allowed = 0, magnitudes = 0;
  for (int i = 0; i < 400; ++i) {
    allowed += tree.force(i, 2, kEpsilon * kEpsilon).allowance;
    magnitudes += direct.force(i, kEpsilon * kEpsilon).magnitude;
  }
  constexpr double kDigit = unit_roundoff<float> * kFar;
  EXPECT_GT(allowed / magnitudes, kDigit);  // nodes are about 1 away
  EXPECT_LT(allowed / magnitudes, 20 * kDigit);
}

// A tree that computes no force at all.
Check tree_without_forces(float mass, float size) {
  const Systems start = cloud(200, mass, size);
  const double softening = kSoftening * size;
  const ValidationInput<float> input{Summation::running,
                                     1,
                                     1,
                                     softening * softening,
                                     start,
                                     start,
                                     0,
                                     {.theta = 0.6f, .multipole = 2},
                                     nullptr,
                                     TreeDesign{16, 32}};
  Check tree{"tree", 0, 1e-5};
  ForceCheck<float>(input, evenly_spaced(200, 200))
      .check_tree(tree, start.system(0), start.system(0), 0.6f);
  return tree;
}
TEST(FalseAlarms, ATreeMayLoseForcesOutsideTheRange) {
  EXPECT_FALSE(tree_without_forces(1e-30f, 1e10f).failed());
  EXPECT_FALSE(tree_without_forces(1e30f, 1e20f).failed());
  for (const auto& [mass, size] : {std::pair(1e-5f, 1e10f), {1.0f, 1.0f}, {1e20f, 1e8f}})
    EXPECT_TRUE(tree_without_forces(mass, size).failed()) << mass << ' ' << size;
}

}  // namespace
}  // namespace nbody::false_alarms
