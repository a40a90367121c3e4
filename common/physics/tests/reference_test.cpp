#include "physics/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace nbody {
namespace {

Systems cloud(double size) {
  Systems systems(1, 257);
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  const auto drawn = [&] { return static_cast<float>(size * normal(random)); };
  for (Body& body : systems.bodies)
    body = {drawn(), drawn(), drawn(), 0, 0, 0, std::abs(static_cast<float>(normal(random)))};
  return systems;
}

// Compares sums without divisions with sums that take a square root and a division per interaction.
TEST(Reference, IsRightToTheLastDigitsAtAnySize) {
  for (const double size : {1e-12, 1e-6, 1.0, 1e6, 1e15}) {
    const Systems systems = cloud(size);
    const ReferenceSystem reference(systems.system(0));
    for (const double softening : {1e-12, 1e-6 * size, 0.05 * size}) {
      const double squared = std::max(softening * softening, 1e-24);
      for (int i = 0; i < reference.size(); ++i) {
        const Vector3 divided = reference.divided_acceleration(i, squared);
        const auto force = reference.force(i, squared);
        const double limit = 2e-15 * force.magnitude;
        ASSERT_LE(length(force.acceleration - divided), limit) << "size " << size;
        ASSERT_LE(length(reference.acceleration(i, squared) - divided), limit) << "size " << size;
      }
    }
  }
}

}  // namespace
}  // namespace nbody
