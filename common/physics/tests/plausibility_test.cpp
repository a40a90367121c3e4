// Tests the verdict on correctly computed runs: some are physically plausible, others are not.
#include "physics/validation/plausibility.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "physics/reference.h"
#include "scenarios/initial_conditions.h"

namespace nbody {
namespace {

using Word = Plausibility::Word;

// Runs the system from `start` with a state in float32 or float64, and judges the result.
template <class Real>
Plausibility judged(const BasicSystems<Real>& start, Integrator integrator, double dt, int steps,
                    double softening) {
  BasicSystems<Real> end = start;
  const Real half = integrator == Integrator::leapfrog ? static_cast<Real>(dt / 2) : 0;
  drift(end, half);
  for (int s = 0; s < end.count; ++s) {
    for (int step = 0; step < steps; ++step) {
      BasicReference<Wide<Real>> system(end.system(s));
      system.advance(dt, softening * softening);
      for (std::size_t i = 0; i < end.system(s).size(); ++i) {
        const auto x = system.position(static_cast<int>(i)),
                   v = system.velocity(static_cast<int>(i));
        BasicBody<Real>& b = end.system(s)[i];
        b = {static_cast<Real>(x.x),
             static_cast<Real>(x.y),
             static_cast<Real>(x.z),
             static_cast<Real>(v.x),
             static_cast<Real>(v.y),
             static_cast<Real>(v.z),
             b.mass};
      }
    }
  }
  drift(end, -half);
  const auto before = diagnose_each(start, softening), after = diagnose_each(end, softening);
  return plausibility<Real>({integrator, dt, steps, softening, start, end, before, after});
}

Systems scenario(const char* name, int bodies, double softening, int systems = 1) {
  return make_scenario(find_scenario(name), {systems, bodies, 3, softening}).systems;
}

TEST(Plausibility, OfARunThatIsResolved) {
  const auto found =
      judged(scenario("plummer", 100, 0.05, 2), Integrator::leapfrog, 0.01, 20, 0.05);
  EXPECT_EQ(found.word, Word::ok) << found.reasons.front();
  EXPECT_TRUE(found.notes.empty());
  EXPECT_LT(*found.energy_change, 1e-3);
  EXPECT_FALSE(found.time_step_error) << "positions of so many bodies are chaotic";
}

TEST(Plausibility, OneSystemOfManyThatExplodes) {
  Systems start = scenario("plummer", 20, 0.05, 3);
  Systems end = start;
  for (Body& body : end.system(1)) body.vx *= 3;
  const auto before = diagnose_each(start, 0.05), after = diagnose_each(end, 0.05);
  const auto found =
      plausibility<float>({Integrator::leapfrog, 0.01, 5, 0.05, start, end, before, after});
  EXPECT_EQ(found.word, Word::failed);
  EXPECT_NE(found.reasons.front().find("the energy changed by"), std::string::npos);
}

TEST(Plausibility, EulerIsToldToTryLeapfrog) {
  const auto start = scenario("figure-eight", 3, 1e-6);
  const auto euler = judged(start, Integrator::euler, 0.05, 150, 1e-6);
  EXPECT_EQ(euler.word, Word::doubtful);
  EXPECT_NE(euler.reasons.back().find("--integrator leapfrog"), std::string::npos);
}

TEST(Plausibility, AClosePairNeedsAShorterStep) {
  Systems start(1, 2);
  start.bodies = {{0, 0, 0, 0, 0.5f, 0, 1}, {1e-3f, 0, 0, 0, -0.5f, 0, 1}};
  const auto found = judged(start, Integrator::leapfrog, 1e-3, 1, 1e-6);
  EXPECT_NE(found.word, Word::ok);
  EXPECT_GT(*found.encounter, 1);
}

// This pair is as close as the pair in the test above, but its mass is too small to affect others.
TEST(Plausibility, AClosePairOfLightBodiesDoesNot) {
  Systems start(1, 4);
  start.bodies = {{0, 0, 0, 0, -0.5f, 0, 1},
                  {1, 0, 0, 0, 0.5f, 0, 1},
                  {5, 0, 0, 0, 0.6f, 0, 1e-9f},
                  {5.00001f, 0, 0, 0, 0.6f, 0, 1e-9f}};
  const auto found = judged(start, Integrator::leapfrog, 1e-3, 10, 1e-6);
  EXPECT_EQ(found.word, Word::ok) << found.reasons.front();
}

// In this run, rounding to float32 moves the bodies more than the error of the time step does.
TEST(Plausibility, SaysWhereFloat32Ends) {
  const auto start = scenario("figure-eight", 3, 1e-6);
  const auto single = judged(start, Integrator::leapfrog, 1e-3, 20000, 1e-6);
  EXPECT_EQ(single.word, Word::ok);
  ASSERT_EQ(single.notes.size(), 1u);
  EXPECT_NE(single.notes[0].find("float32 is at its limit"), std::string::npos);
  EXPECT_GT(*single.rounding_error, 3 * *single.time_step_error);

  SystemsF64 wide(1, 3);
  std::transform(start.bodies.begin(), start.bodies.end(), wide.bodies.begin(), widened);
  const auto precise = judged(wide, Integrator::leapfrog, 1e-3, 20000, 1e-6);
  EXPECT_EQ(precise.word, Word::ok);
  EXPECT_TRUE(precise.notes.empty());
}

// Runs step 00's two loops in float64, with leapfrog's half drifts, and judges the result.
Plausibility judged_in_float64(const SystemsF64& start, double dt, int steps, double softening) {
  SystemsF64 end = start;
  drift(end, dt / 2);
  advance(end, dt, steps, softening * softening);
  drift(end, -dt / 2);
  const auto before = diagnose_each(start, softening), after = diagnose_each(end, softening);
  return plausibility<double>(
      {Integrator::leapfrog, dt, steps, softening, start, end, before, after});
}

// Burrau 1913: bodies of mass 3, 4 and 5 start from rest at the corners of a triangle with sides of
// these lengths. In float64, leapfrog with dt 1e-5 agrees with IAS15 at t = 10 to within 9e-4; with
// dt 1e-3 the system explodes.
TEST(Plausibility, ThePythagoreanProblem) {
  SystemsF64 start(1, 3);
  start.bodies = {{1, 3, 0, 0, 0, 0, 3}, {-2, -1, 0, 0, 0, 0, 4}, {1, -1, 0, 0, 0, 0, 5}};
  const auto coarse = judged_in_float64(start, 1e-3, 10000, 1e-9);
  EXPECT_EQ(coarse.word, Word::failed);
  EXPECT_GT(*coarse.energy_change, 1);
  const auto fine = judged_in_float64(start, 2e-5, 500000, 1e-9);
  EXPECT_EQ(fine.word, Word::ok) << fine.reasons.front();
  EXPECT_LT(*fine.time_step_error, 1e-2);
}

}  // namespace
}  // namespace nbody
