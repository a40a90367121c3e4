// Tests how much momentum a run may lose by rounding.
#include "physics/validation/conservation.h"

#include <gtest/gtest.h>

namespace nbody {
namespace {

// Eight bodies with a speed near 0.7 and an acceleration of 1. In each of the steps, the kick of
// every body is rounded up by a third of the last digit.
Check momentum_of_a_run(double dt, int steps) {
  Systems start(1, 8), kicked(1, 8);
  for (Body& body : start.bodies) body = {1, 0, 0, 0.7f, 0, 0, 0.125f};
  for (Body& body : kicked.bodies) body.vy = 1;
  Systems end = start;
  for (Body& body : end.bodies) body.vx += static_cast<float>(steps * (0x1p-24 / 3));
  Check momentum{"momentum", 0, 1e-5}, angular{"angular_momentum", 0, 1};
  check_conservation(momentum, angular, start, kicked, end, dt, steps);
  return momentum;
}

TEST(Conservation, AllowsThatTinyKicksAreRoundedAlike) {
  EXPECT_FALSE(momentum_of_a_run(1e-6, 300000).failed());
}

// Longer kicks change from step to step, so that their errors have all directions.
TEST(Conservation, AllowsNothingMoreForLongKicks) {
  const Check momentum = momentum_of_a_run(1e-3, 300000);
  EXPECT_EQ(momentum.limit, 1e-5);
  EXPECT_TRUE(momentum_of_a_run(1e-3, 3000).failed());
}

}  // namespace
}  // namespace nbody
