// Tests the distribution of force errors with programs whose errors are known.
#include "physics/force_error.h"

#include <gtest/gtest.h>

#include <cmath>

#include "physics/reference.h"
#include "scenarios/initial_conditions.h"

namespace nbody::force_errors {
namespace {

constexpr double kSofteningSquared = 0.05 * 0.05;

Systems galaxies(int systems, int bodies) {
  return make_scenario(find_scenario("galaxies"), {systems, bodies, 3, 0.05}).systems;
}

// Returns a step that computes the force on body k (counted over all systems) with the relative
// error error(k).
template <class Error>
Advance<float> wrong_by(const Error& error) {
  return [=](Systems& systems, double, int) {
    for (int s = 0; s < systems.count; ++s) {
      const ReferenceSystem reference(systems.system(s));
      for (int i = 0; i < systems.bodies_per_system; ++i) {
        const Vector3 a = (1 + error(s * systems.bodies_per_system + i)) *
                          reference.acceleration(i, kSofteningSquared);
        Body& body = systems.system(s)[static_cast<std::size_t>(i)];
        body.vx = static_cast<float>(a.x);
        body.vy = static_cast<float>(a.y);
        body.vz = static_cast<float>(a.z);
      }
    }
  };
}

TEST(ForceError, HasTheQuantilesOfItsErrors) {
  const auto error = wrong_by([](int k) { return (k + 1) * 1e-4; });
  const ForceError all = force_error(galaxies(2, 500), kSofteningSquared, 5000, error);
  EXPECT_EQ(all.bodies, 1000);
  EXPECT_NEAR(all.median, 0.05, 1e-6);
  EXPECT_NEAR(all.p99, 0.099, 1e-6);
  EXPECT_NEAR(all.p999, 0.0999, 1e-6);
  EXPECT_NEAR(all.max, 0.1, 1e-6);
  EXPECT_NEAR(all.rms, 0.1 / std::sqrt(3), 1e-4);
}

TEST(ForceError, TakesBodiesFromTheFirstToTheLastOfAllSystems) {
  for (const int wrong : {0, 299}) {
    const auto error = wrong_by([=](int k) { return k == wrong ? 0.1 : 0.0; });
    const ForceError some = force_error(galaxies(3, 100), kSofteningSquared, 10, error);
    EXPECT_EQ(some.bodies, 10);
    EXPECT_NEAR(some.p99, 0.1, 1e-6);
    EXPECT_LT(some.median, 1e-7);
  }
}

TEST(ForceError, OfANumberThatIsNoneIsTheWorst) {
  const auto error = wrong_by([](int k) { return k == 7 ? std::nan("") : 0.0; });
  const ForceError all = force_error(galaxies(1, 100), kSofteningSquared, 100, error);
  EXPECT_TRUE(std::isinf(all.p999));
  EXPECT_TRUE(std::isinf(all.rms));
  EXPECT_LT(all.median, 1e-7);
}

}  // namespace
}  // namespace nbody::force_errors
