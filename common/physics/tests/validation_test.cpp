// Tests the validator with correct programs, with wrong ones, and with cases that it cannot decide.
#include "physics/validation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <stdexcept>

#include "physics/force_error.h"
#include "physics/integrator.h"
#include "physics/reference.h"
#include "scenarios/initial_conditions.h"

namespace nbody {
namespace {

constexpr double kSofteningSquared = 0.05 * 0.05;

// Advances the bodies correctly, with a state in float32.
void advance_right(Systems& systems, double dt, int steps) {
  SystemsF64 wide(systems.count, systems.bodies_per_system);
  for (int step = 0; step < steps; ++step) {
    std::transform(systems.bodies.begin(), systems.bodies.end(), wide.bodies.begin(), widened);
    advance(wide, dt, 1, kSofteningSquared);
    std::transform(wide.bodies.begin(), wide.bodies.end(), systems.bodies.begin(), rounded);
  }
}

Systems galaxies(int systems, int bodies) {
  return make_scenario(find_scenario("galaxies"), {systems, bodies, 3, 0.05}).systems;
}

Systems advanced(Systems systems, double dt, int steps, const Advance<float>& advance) {
  advance(systems, dt, steps);
  return systems;
}

Validation validated(const Systems& start, double dt, int steps, ValidationMode mode,
                     const Advance<float>& advance = advance_right, double seconds = 0) {
  const Systems end = advanced(start, dt, steps, advance);
  return validate<float>({Summation::tiled, dt, steps, kSofteningSquared, start, end, seconds},
                         mode, advance);
}

void expect_every_check_passed(const Validation& validation) {
  for (const Check& check : validation.checks)
    EXPECT_FALSE(check.failed()) << check.name << ' ' << check.value << " > " << check.limit;
}

const Check& check(const Validation& validation, const std::string& name) {
  for (const Check& check : validation.checks)
    if (check.name == name) return check;
  throw std::out_of_range(name);
}

TEST(Check, AnInfiniteLimitAllowsNothingInfinite) {
  EXPECT_TRUE((Check{"", INFINITY, INFINITY}).failed());
  EXPECT_TRUE((Check{"", NAN, INFINITY}).failed());
}

TEST(Check, KeepsTheWorstAndNeverForgetsANaN) {
  Check check{"", 0, 1};
  check.keep_worse(2, 8);
  EXPECT_EQ(check.limit, 8);
  check.keep_worse(1, 8);
  EXPECT_EQ(check.value, 2);
  check.keep_worse(NAN, 1);
  check.keep_worse(0.5, 1);
  EXPECT_TRUE(std::isnan(check.value));
  EXPECT_TRUE(check.failed());
}

TEST(Validation, OfARightProgramPassesAndLeavesNothingOpen) {
  const Validation validation = validated(galaxies(3, 50), 0.01, 5, ValidationMode::automatic);
  EXPECT_FALSE(validation.failed());
  EXPECT_FALSE(validation.sampled);
  EXPECT_TRUE(validation.open().empty());
}

TEST(Validation, SaysWhichTrajectoryItCompared) {
  const Validation validation = validated(galaxies(3, 50), 0.01, 5, ValidationMode::sampled);
  EXPECT_FALSE(validation.failed());
  EXPECT_TRUE(validation.sampled);
  ASSERT_EQ(validation.open().size(), 1u);
  EXPECT_TRUE(validation.open()[0].starts_with("trajectory: compared only in system"));
}

// A run with this number of steps lasts about thirty crossing times of the second system, but less
// than one crossing time of the first system.
constexpr int kLong = 4000;
Systems calm_and_chaotic() {
  Systems systems = galaxies(2, 8);
  for (Body& body : systems.system(0))
    body = {50 * body.x, 50 * body.y, 50 * body.z, 0, 0, 0, 0.1f};
  return systems;
}

TEST(Validation, OneChaoticSystemExcusesNoOther) {
  const Systems start = calm_and_chaotic();
  const Validation right = validated(start, 0.01, kLong, ValidationMode::full);
  const Check trajectory = check(right, "trajectory");
  EXPECT_TRUE(trajectory.decided);
  expect_every_check_passed(right);
  EXPECT_EQ(trajectory.open, "too chaotic at this length in 1 of 2 systems");

  Systems end = advanced(start, 0.01, kLong, advance_right);
  end.system(0)[6].x *= 1.01f;
  const Validation wrong =
      validate<float>({Summation::tiled, 0.01, kLong, kSofteningSquared, start, end},
                      ValidationMode::full, advance_right);
  EXPECT_TRUE(check(wrong, "trajectory").failed());
}

TEST(Validation, ChaosAloneIsUndecidedAndNotPassed) {
  Systems start(1, 8);
  const auto chaotic = calm_and_chaotic();
  std::copy(chaotic.system(1).begin(), chaotic.system(1).end(), start.bodies.begin());
  const Validation validation = validated(start, 0.01, kLong, ValidationMode::full);
  EXPECT_FALSE(check(validation, "trajectory").decided);
  EXPECT_FALSE(validation.failed());
  EXPECT_EQ(validation.open(),
            (std::vector<std::string>{"trajectory: too chaotic at this length"}));
}

// Returns a star and bodies on a ring around it.
Systems star_and_ring(int bodies, float mass) {
  Systems systems(1, bodies);
  std::mt19937 random(1);
  const auto drawn = [&](double low, double high) {
    return std::uniform_real_distribution(low, high)(random);
  };
  for (Body& body : systems.bodies) {
    const double r = drawn(0.3, 1), angle = drawn(0, 2 * std::numbers::pi);
    const auto x = static_cast<float>(r * std::cos(angle)),
               y = static_cast<float>(r * std::sin(angle));
    body = {x, y, 0, 0, 0, 0, mass};
  }
  systems.bodies.front() = {0, 0, 0, 0, 0, 0, 1};
  return systems;
}

// Returns a step that adds the forces in float32, from the first body to the last, and multiplies
// the accelerations by `factor`. If the factor is 1, the step is correct.
Advance<float> sums_in_float(float factor) {
  return [factor](Systems& systems, double dt, int steps) {
    const auto time = static_cast<float>(dt);
    for (int step = 0; step < steps; ++step) {
      const Systems before = systems;
      for (int i = 0; i < systems.bodies_per_system; ++i) {
        Body& body = systems.system(0)[static_cast<std::size_t>(i)];
        float ax = 0, ay = 0, az = 0;
        for (const Body& other : before.system(0)) {
          const float dx = other.x - body.x, dy = other.y - body.y, dz = other.z - body.z;
          const float d =
              std::sqrt(dx * dx + dy * dy + dz * dz + static_cast<float>(kSofteningSquared));
          const float s = other.mass / (d * d * d);
          ax += s * dx, ay += s * dy, az += s * dz;
        }
        body.vx += factor * ax * time, body.vy += factor * ay * time, body.vz += factor * az * time;
      }
      drift(systems, time);
    }
  };
}

// The forces of the other bodies are below the last digit of the star's force, so a float32 sum
// that begins with the star loses all these forces.
TEST(Validation, AllowsWhatASumLosesThatBeginsWithAStar) {
  const Systems start = star_and_ring(1024, 1e-7f);
  const Validation right = validated(start, 0.01, 3, ValidationMode::automatic, sums_in_float(1));
  expect_every_check_passed(right);
  const float lost = check(right, "acceleration_rms").value;
  EXPECT_GT(lost, 3e-6) << "nothing was lost, so this tests nothing";
  const Validation wrong =
      validated(start, 0.01, 3, ValidationMode::automatic, sums_in_float(1 + 4 * lost));
  EXPECT_TRUE(check(wrong, "acceleration_rms").failed());
}

TEST(Validation, AStarExcusesNoOtherError) {
  const Systems start = star_and_ring(32, 1e-3f);
  EXPECT_FALSE(validated(start, 0.01, 3, ValidationMode::automatic, sums_in_float(1)).failed());
  const Validation wrong =
      validated(start, 0.01, 3, ValidationMode::automatic, sums_in_float(1 + 2e-6f));
  EXPECT_TRUE(check(wrong, "acceleration_rms").failed());
}

// The wrong program has no gravity, and skips some of the time steps in calls of more than
// `threshold` steps.
TEST(Validation, MissesNoStepsInAnyMode) {
  const Systems start = galaxies(1, 2);
  for (const int steps : {3, 8, 14, 33, 34, 41, 60, 97, 200}) {
    for (int threshold = 2; threshold < steps; threshold += 1 + threshold / 4) {
      const auto loses_one = [&](int asked) { return asked - 1; };
      const auto loses_half = [&](int asked) { return asked / 2; };
      const auto loses_remainder = [&](int asked) { return asked / 4 * 4; };
      for (const auto& taken :
           std::initializer_list<std::function<int(int)>>{loses_one, loses_half, loses_remainder}) {
        if (taken(steps) == steps) continue;  // no step is skipped, so the run is right
        const Advance<float> wrong = [&](Systems& systems, double dt, int asked) {
          const int steps_taken = asked > threshold ? taken(asked) : asked;
          for (int k = 0; k < steps_taken; ++k) drift(systems, static_cast<float>(dt));
        };
        EXPECT_TRUE(
            check(validated(start, 0.01, steps, ValidationMode::sampled, wrong), "composition")
                .failed())
            << steps << " steps, wrong above " << threshold;
      }
    }
  }
}

// To repeat a run that took an hour would take another hour. The validator must report that it did
// not repeat the run, and check at least two time steps.
TEST(Validation, SaysWhatIsTooLongToRepeat) {
  const Systems start = galaxies(4, 20);
  const Validation all = validated(start, 0.01, 16, ValidationMode::automatic, advance_right, 3600);
  EXPECT_EQ(
      all.open(),
      (std::vector<std::string>{"composition: the run was not repeated: that takes 3.6e+03 s"}));
  const Validation some = validated(start, 0.01, 16, ValidationMode::automatic, advance_right, 20);
  EXPECT_EQ(some.open(),
            (std::vector<std::string>{"composition: only 2 of 4 systems were repeated"}));
  EXPECT_TRUE(all.partial());
  EXPECT_FALSE(some.partial());
  const Validation asked = validated(start, 0.01, 16, ValidationMode::full, advance_right, 3600);
  EXPECT_TRUE(asked.open().empty());
  EXPECT_FALSE(asked.partial());
}

// The wrong program takes only half of the time steps in long calls. Repeating a chunk of an
// hour-long run must reveal this.
TEST(Validation, RepeatsAChunkOfALongRun) {
  const Advance<float> halves = [](Systems& systems, double dt, int steps) {
    advance_right(systems, dt, steps > 8 ? steps / 2 : steps);
  };
  const Systems start = galaxies(1, 20);
  for (const bool right : {true, false}) {
    const Advance<float> advance = right ? Advance<float>(advance_right) : halves;
    RunChunk<float> chunk{advanced(start, 0.01, 30, advance), {}, 30, 20};
    chunk.end = advanced(chunk.start, 0.01, 20, advance);
    const Systems end = advanced(chunk.end, 0.01, 25, advance);
    const ValidationInput<float> input{
        Summation::tiled, 0.01, 75, kSofteningSquared, start, end, 3600, {}, &chunk};
    const Validation validation = validate<float>(input, ValidationMode::sampled, advance);
    EXPECT_EQ(check(validation, "composition").failed(), !right);
    EXPECT_EQ(check(validation, "composition").open, "only steps 31 to 50 of 75 were repeated");
    EXPECT_FALSE(validation.partial());
  }
}

// In a run with very short time steps, rounding would hide the effect of a wrong dt on velocities
// and positions.
TEST(Validation, SeesAWrongTimeStepHoweverShort) {
  for (const double dt : {1e-2, 1e-4, 1e-7, -1e-6, 1e-12}) {
    for (const auto& [kick, drift_] : {std::pair(1.0, 1.0), {1.00001, 1.0}, {1.0, 1.00001}}) {
      const Advance<float> advance = [kick = kick, drift_ = drift_](Systems& systems, double length,
                                                                    int steps) {
        for (int step = 0; step < steps; ++step) {
          Systems kicked = systems;
          advance_right(kicked, std::abs(length) < 0.5 ? kick * length : length, 1);
          for (std::size_t k = 0; k < kicked.bodies.size(); ++k) {
            Body& b = kicked.bodies[k];
            b.x = systems.bodies[k].x, b.y = systems.bodies[k].y, b.z = systems.bodies[k].z;
          }
          drift(kicked, static_cast<float>(drift_ * length));
          systems = kicked;
        }
      };
      const Validation validation =
          validated(galaxies(2, 30), dt, 2, ValidationMode::full, advance);
      EXPECT_EQ(check(validation, "time_step").failed(), kick != 1 || drift_ != 1)
          << dt << ' ' << kick << ' ' << drift_ << ' ' << check(validation, "time_step").value;
    }
  }
}

TEST(Validation, NamesTheFirstNumberThatIsNone) {
  const Systems start = galaxies(2, 20);
  Systems end = advanced(start, 0.01, 3, advance_right);
  end.system(1)[3].vy = INFINITY;
  const Validation validation =
      validate<float>({Summation::tiled, 0.01, 3, kSofteningSquared, start, end},
                      ValidationMode::full, advance_right);
  EXPECT_TRUE(check(validation, "finite").failed());
  EXPECT_EQ(check(validation, "finite").detail, "vy of body 3 is infinite in system 1");
  EXPECT_THROW(check(validation, "momentum"), std::out_of_range);
}

// The program computes a wrong force on body 7, which is not in the sample.
TEST(Validation, SeesABodyThatIsNotInTheSample) {
  const auto favours_one = [](Systems& systems, double dt, int steps) {
    for (int step = 0; step < steps; ++step) {
      Systems before = systems;
      advance_right(systems, dt, 1);
      const float dvx = systems.bodies[7].vx - before.bodies[7].vx;
      systems.bodies[7].vx += dvx;
      systems.bodies[7].x += dvx * static_cast<float>(dt);
    }
  };
  EXPECT_TRUE(
      check(validated(galaxies(1, 40), 0.01, 3, ValidationMode::sampled, favours_one), "body_order")
          .failed());
}

// Returns a step that makes the accelerations of some bodies too large by the fraction `part`.
Advance<float> stronger(float part, const std::function<bool(const Body&, std::size_t)>& which,
                        const Advance<float>& right = advance_right) {
  return [=](Systems& systems, double dt, int steps) {
    for (int step = 0; step < steps; ++step) {
      const Systems before = systems;
      right(systems, dt, 1);
      for (std::size_t i = 0; i < systems.bodies.size(); ++i) {
        const Body& old = before.bodies[i];
        if (!which(old, i)) continue;
        Body& b = systems.bodies[i];
        const float kick[] = {part * (b.vx - old.vx), part * (b.vy - old.vy),
                              part * (b.vz - old.vz)};
        b.vx += kick[0], b.vy += kick[1], b.vz += kick[2];
        b.x += kick[0] * static_cast<float>(dt);
        b.y += kick[1] * static_cast<float>(dt);
        b.z += kick[2] * static_cast<float>(dt);
      }
    }
  };
}

// The force on one of 300 bodies is wrong, but its error is too small to show in a root mean square
// over all bodies.
TEST(Validation, SeesASingleWeakForceThatIsWrong) {
  Systems start = galaxies(1, 300);
  start.bodies[123] = {100, 0, 0, 0, 0, 0, 1e-3f};
  const auto is_far = [](const Body& b, std::size_t) { return std::hypot(b.x, b.y, b.z) > 50; };
  expect_every_check_passed(validated(start, 0.01, 2, ValidationMode::full));
  const Validation wrong = validated(start, 0.01, 2, ValidationMode::full, stronger(1e-2f, is_far));
  for (const Check& check : wrong.checks)
    EXPECT_EQ(check.failed(), check.name == "acceleration_worst")
        << check.name << ' ' << check.value;
}

// A body is kicked twice as far if the last digits of its position say so. In a chaotic run only
// the steps in which this happens can show it.
TEST(Validation, ChecksEveryStepOfAChaoticRun) {
  Systems start(1, 8);
  const Systems both = calm_and_chaotic();
  std::copy(both.system(1).begin(), both.system(1).end(), start.bodies.begin());
  const auto is_chosen = [](const Body& body, std::size_t) {
    return std::bit_cast<std::uint32_t>(body.x) % 4096 == 77;
  };
  const Advance<float> wrong = stronger(1, is_chosen);
  const Validation all = validated(start, 0.01, kLong, ValidationMode::full, wrong);
  EXPECT_TRUE(check(all, "acceleration_rms").failed());
  EXPECT_FALSE(check(all, "trajectory").decided);
  // `automatic` checks about a quarter of these 4,000 steps.
  const Validation some = validated(start, 0.01, kLong, ValidationMode::automatic, wrong);
  EXPECT_TRUE(check(some, "acceleration_rms").failed());
  EXPECT_FALSE(validated(start, 0.01, kLong, ValidationMode::automatic).failed());
}

// Correctly advances systems in which only a few bodies have mass; the state is in float32.
void advance_few(Systems& systems, double dt, int steps) {
  for (int step = 0; step < steps; ++step) {
    SystemsF64 sources(1, 0);
    for (const Body& b : systems.bodies)
      if (b.mass > 0) sources.bodies.push_back(widened(b));
    for (Body& b : systems.bodies) {
      Vector3 a;
      for (const BodyF64& source : sources.bodies) {
        const Vector3 d = position(source) - position(b);
        const double r2 = dot(d, d) + kSofteningSquared;
        a += source.mass / (r2 * std::sqrt(r2)) * d;
      }
      b.vx += static_cast<float>(a.x * dt), b.vy += static_cast<float>(a.y * dt);
      b.vz += static_cast<float>(a.z * dt);
    }
    drift(systems, static_cast<float>(dt));
  }
}

// Three quarters of 16,400 bodies are sampled. An error in the force on one of the other bodies is
// too small to exceed the limit on the sum over all bodies.
TEST(Validation, LooksAtTheBodiesThatChangeTheMost) {
  Systems start = galaxies(1, 16400);
  for (std::size_t i = 0; i < start.bodies.size(); ++i)
    start.bodies[i].mass = i % 256 == 0 ? 1.0f / 64 : 0;
  std::size_t left_out = 4000;  // increased below to the next index outside the sample
  const std::vector<int> sample = evenly_spaced(16400, static_cast<int>(2e8 / 16400));
  while (std::binary_search(sample.begin(), sample.end(), static_cast<int>(left_out))) ++left_out;
  const auto is_left_out = [=](const Body&, std::size_t i) { return i == left_out; };
  const Validation wrong =
      validated(start, 0.01, 1, ValidationMode::sampled, stronger(1e-4f, is_left_out, advance_few));
  for (const Check& check : wrong.checks)
    EXPECT_EQ(check.failed(), check.name == "acceleration_worst")
        << check.name << ' ' << check.value;
}

TEST(Validation, OfNoStepHasNothingToRepeat) {
  const Validation validation = validated(galaxies(1, 20), 0.01, 0, ValidationMode::automatic);
  EXPECT_FALSE(validation.failed());
  EXPECT_FALSE(validation.partial());
  EXPECT_EQ(check(validation, "composition").open,
            "there was nothing to do: no time step was taken");
}

TEST(Validation, RejectsNaNInOneSystemOfMany) {
  const Systems start = galaxies(3, 20);
  Systems end = advanced(start, 0.01, 3, advance_right);
  end.system(0)[3].vy = NAN;
  EXPECT_TRUE(validate<float>({Summation::tiled, 0.01, 3, kSofteningSquared, start, end},
                              ValidationMode::full, advance_right)
                  .failed());
}

// Returns a step that adds `part` times the y component of an acceleration to its x component.
Advance<float> wrong_by(float part) {
  return [part](Systems& systems, double dt, int steps) {
    for (int step = 0; step < steps; ++step) {
      const Systems before = systems;
      advance_right(systems, dt, 1);
      for (std::size_t i = 0; i < systems.bodies.size(); ++i) {
        Body& b = systems.bodies[i];
        const float kick = part * (b.vy - before.bodies[i].vy);
        b.vx += kick;
        b.x += kick * static_cast<float>(dt);
      }
    }
  };
}

Validation of_a_tree(float theta, float error, float error_at_a_smaller_angle) {
  const Systems start = make_scenario(find_scenario("plummer"), {1, 300, 3, 0.05}).systems;
  const Advance<float> advance = wrong_by(error);
  const Systems end = advanced(start, 0.01, 1, advance);
  return validate<float>({Summation::tiled, 0.01, 1, kSofteningSquared, start, end, 0, {theta, 2}},
                         ValidationMode::full, advance,
                         {.fine = wrong_by(error_at_a_smaller_angle)});
}

// A correct coarse tree may have an error of 1e-2, so an error of this size does not prove that a
// tree is wrong.
TEST(Validation, OfACoarseTreeIsDecidedAtASmallerAngle) {
  const Validation right = of_a_tree(0.8f, 1e-2f, 2e-4f);
  expect_every_check_passed(right);
  EXPECT_TRUE(right.open().empty()) << right.open().front();
  EXPECT_FALSE(check(right, "rms_at_theta_0.3").failed());

  const Validation wrong = of_a_tree(0.8f, 1e-2f, 1e-2f);
  EXPECT_FALSE(check(wrong, "acceleration_rms").failed());
  EXPECT_TRUE(check(wrong, "rms_at_theta_0.3").failed());
  EXPECT_TRUE(check(wrong, "p99_at_theta_0.3").failed());

  const Validation coarser_than_it_says = of_a_tree(0.8f, 0.4f, 2e-4f);
  EXPECT_TRUE(check(coarser_than_it_says, "acceleration_rms").failed());
}

// A program that no comparison could reject has not passed it.
TEST(Validation, LeavesOutAKeptTreeThatItCannotCompare) {
  const Systems moving = galaxies(1, 50), alone(1, 1);
  const auto compares = [](const Systems& start, const Variants<float>& variants) {
    const Approximation kept{.theta = 0.3f, .rebuild_every = 2};
    const Validation validation =
        validate<float>({Summation::tiled, 0.01, 1, kSofteningSquared, start,
                         advanced(start, 0.01, 1, advance_right), 0, kept},
                        ValidationMode::full, advance_right, variants);
    EXPECT_FALSE(validation.failed());
    return std::any_of(validation.checks.begin(), validation.checks.end(),
                       [](const Check& check) { return check.name == "kept_tree"; });
  };
  EXPECT_TRUE(compares(moving, {.fine = advance_right}));
  EXPECT_FALSE(compares(moving, {}));
  EXPECT_FALSE(compares(alone, {.fine = advance_right})) << "its only body cannot move";
}

TEST(Validation, OfAFineTreeNeedsNoSmallerAngle) {
  const Validation validation = of_a_tree(0.3f, 2e-4f, 1);
  EXPECT_FALSE(validation.failed());
  EXPECT_THROW(check(validation, "rms_at_theta_0.3"), std::out_of_range);
  EXPECT_TRUE(check(of_a_tree(0.3f, 1e-2f, 0), "acceleration_rms").failed());
}

}  // namespace
}  // namespace nbody
