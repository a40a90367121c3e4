// Tests the check of mean kicks and drifts with kicks that are far smaller than the velocities.
#include "physics/validation/mean_change.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace nbody {
namespace {

constexpr double kForceError = 2e-6;

// Bodies with velocities near 1 and accelerations of up to `largest`.
struct Kicked {
  Systems before{1, 1000}, kicked{1, 1000};

  explicit Kicked(float largest) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> speed(0.5f, 1), acceleration(-largest, largest);
    for (Body& body : before.bodies) body.vx = speed(random), body.vy = speed(random);
    for (Body& body : kicked.bodies) body.vx = acceleration(random), body.vy = acceleration(random);
  }

  // Returns the check of kicks in steps of length 1 that are `factor` times as long as they should
  // be, except those longer than 1, and are added in `parts` parts.
  Check checked(float factor, int parts = 1) const {
    Systems after = before;
    for (std::size_t i = 0; i < after.bodies.size(); ++i) {
      Body& body = after.bodies[i];
      const float own = std::abs(kicked.bodies[i].vx) > 1 ? 1 : factor;
      for (int k = 1; k <= parts; ++k) {  // the parts have different lengths
        const float part =
            own * static_cast<float>(2 * k) / static_cast<float>(parts * (parts + 1));
        body.vx += part * kicked.bodies[i].vx;
        body.vy += part * kicked.bodies[i].vy;
      }
    }
    Check kick{"mean_kick", 0, 1e-5}, drift{"mean_drift", 0, 1e-5};
    check_mean_change(kick, drift, before, kicked, after, 1, kForceError);
    return kick;
  }
};

TEST(MeanKick, SeesKicksThatAreALittleTooLong) {
  for (const float largest : {1e-2f, 1e-4f, 1e-5f}) {
    const Kicked system(largest);
    EXPECT_FALSE(system.checked(1).failed()) << largest;
    EXPECT_TRUE(system.checked(1.008f).failed()) << largest;
    EXPECT_TRUE(system.checked(0.992f).failed()) << largest;
  }
}

TEST(MeanKick, AllowsForcesThatAreRounded) {
  const Kicked system(1e-2f);
  EXPECT_FALSE(system.checked(1 + 1e-6f).failed());
  EXPECT_TRUE(system.checked(1 + 1e-5f).failed());
}

TEST(MeanKick, ABinaryHidesNoOtherKicks) {
  Kicked system(1e-4f);
  for (const std::size_t i : {0u, 1u}) system.kicked.bodies[i].vx = i == 0 ? 1000.0f : -1000.0f;
  EXPECT_FALSE(system.checked(1).failed());
  EXPECT_TRUE(system.checked(1.008f).failed());
}

// cuBLAS may add each of several partial sums to the velocity.
TEST(MeanKick, AllowsSeveralRoundings) {
  for (const float largest : {1e-2f, 1e-4f, 1e-5f})
    for (const int parts : {2, 3, 7}) EXPECT_FALSE(Kicked(largest).checked(1, parts).failed());
}

// Below the last digit of the velocities, no kick changes anything.
TEST(MeanKick, LeavesOutWhatNoDigitShows) {
  const Check check = Kicked(1e-9f).checked(2);
  EXPECT_EQ(check.value, 0);
  EXPECT_FALSE(check.failed());
}

TEST(MeanKick, FailsIfAVelocityIsNaN) { EXPECT_TRUE(Kicked(1e-3f).checked(NAN).failed()); }

TEST(MeanDrift, SeesDriftsThatAreALittleTooLong) {
  const Kicked system(0);
  for (const float factor : {1.0f, 1.01f}) {
    Systems before = system.before;
    for (std::size_t i = 0; i < before.bodies.size(); ++i)
      before.bodies[i].x = 1000 + 0.37f * static_cast<float>(i);
    Systems after = before;
    for (Body& body : after.bodies) body.x += factor * body.vx, body.y += factor * body.vy;
    Check kick{"mean_kick", 0, 1e-5}, drift{"mean_drift", 0, 1e-5};
    check_mean_change(kick, drift, before, system.kicked, after, 1, kForceError);
    EXPECT_EQ(drift.failed(), factor != 1);
    EXPECT_FALSE(kick.failed());
  }
}

}  // namespace
}  // namespace nbody
