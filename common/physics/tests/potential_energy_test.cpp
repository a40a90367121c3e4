#include "physics/potential_energy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "physics/diagnostics.h"
#include "scenarios/initial_conditions.h"

namespace nbody {
namespace {

// Returns n light bodies on circular orbits around a star. Without the light bodies' own gravity,
// 2T/|W| would be 1.
std::vector<Body> planetesimals(int n, bool star_first) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Body> bodies;
  const Body star{0, 0, 0, 0, 0, 0, 1};
  if (star_first) bodies.push_back(star);
  for (int i = 0; i < n; ++i) {
    const double r = 1 + unit(random), angle = 2 * M_PI * unit(random), v = 1 / std::sqrt(r);
    bodies.push_back({static_cast<float>(r * std::cos(angle)),
                      static_cast<float>(r * std::sin(angle)), 0,
                      static_cast<float>(-v * std::sin(angle)),
                      static_cast<float>(v * std::cos(angle)), 0, 1e-10f});
  }
  if (!star_first) bodies.insert(bodies.begin() + 1, star);
  return bodies;
}

TEST(PotentialEnergy, AStarsPairsAreAllCounted) {
  for (const bool star_first : {true, false}) {
    const std::vector<Body> bodies = planetesimals(20000, star_first);
    EXPECT_NEAR(diagnose(bodies, 1e-6).virial_ratio(), 1, 1e-5) << star_first;
  }
}

TEST(PotentialEnergy, AnEstimateCountsTheHeavyBodiesExactly) {
  for (const bool star_first : {true, false}) {
    const std::vector<Body> bodies = planetesimals(20000, star_first);
    const PotentialEnergy all = potential_energy(bodies, 1e-6, kAllPairsBudget);
    const PotentialEnergy some = potential_energy(bodies, 1e-6, 4e6);
    EXPECT_EQ(all.standard_error, 0);
    EXPECT_NEAR(some.value / all.value, 1, 1e-6) << star_first;
  }
}

TEST(PotentialEnergy, AnEstimateIsAsGoodAsItSays) {
  const auto plummer = make_scenario(find_scenario("plummer"), {40, 2000, 1, 0.05});
  int within_two = 0;
  for (int s = 0; s < plummer.systems.count; ++s) {
    const auto bodies = plummer.systems.system(s);
    const PotentialEnergy all = potential_energy(bodies, 0.05, kAllPairsBudget);
    const PotentialEnergy some = potential_energy(bodies, 0.05, 4e5);  // for 200 of the 2000 bodies
    EXPECT_GT(some.standard_error, 0);
    EXPECT_LT(some.standard_error, -0.1 * all.value);
    within_two += std::abs(some.value - all.value) < 2 * some.standard_error;
  }
  EXPECT_GE(within_two, 36);  // 95 % of the 40 estimates would be 38
}

TEST(PotentialEnergy, BodiesWithoutMassOrAloneHaveNone) {
  const std::vector<Body> massless(1000, Body{1, 2, 3, 0, 0, 0, 0});
  EXPECT_EQ(potential_energy(massless, 0.1, 1e4).value, 0);
  EXPECT_EQ(potential_energy(std::vector<Body>(1, Body{0, 0, 0, 0, 0, 0, 1}), 0.1, 1).value, 0);
}

}  // namespace
}  // namespace nbody
