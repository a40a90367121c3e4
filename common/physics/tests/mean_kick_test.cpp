// Tests the check of the mean kick with kicks that are far smaller than the velocities.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "physics/validation/kick_drift.h"

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
  // be; `up` is added to the velocities along x, in units of 2^-24.
  Gate checked(float factor, float up = 0) const {
    Systems after = before;
    for (std::size_t i = 0; i < after.bodies.size(); ++i) {
      Body& body = after.bodies[i];
      body.vx += factor * kicked.bodies[i].vx + up * 0x1p-24f;
      body.vy += factor * kicked.bodies[i].vy;
    }
    Gate gate{"mean_kick", 0, 1e-5};
    check_mean_kick(gate, before, kicked, after, 1, kForceError);
    return gate;
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

TEST(MeanKick, SeesVelocitiesThatAreRoundedInOneDirection) {
  EXPECT_TRUE(Kicked(1e-5f).checked(1, 1).failed());
}

// Below the last digit of the velocities, no kick changes anything.
TEST(MeanKick, LeavesOutWhatNoDigitShows) {
  const Gate gate = Kicked(1e-9f).checked(2);
  EXPECT_EQ(gate.value, 0);
  EXPECT_FALSE(gate.failed());
}

TEST(MeanKick, FailsIfAVelocityIsNaN) { EXPECT_TRUE(Kicked(1e-3f).checked(NAN).failed()); }

}  // namespace
}  // namespace nbody
