// Tests the step with random problems, each of which must pass every check. The problems differ in
// the numbers of systems, bodies and steps; the time step, its sign, the softening and the
// integrator; the systems' shape and distance from the origin; the units of length and mass; and,
// for a tree, the opening angle and the multipole. Some have massless and coincident bodies.
//
//   NBODY_TEST_SEED=K    selects the problems (default 1); a failure prints the K that repeats it
//   NBODY_TEST_CASES=C   number of problems (default 4)
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <numbers>
#include <random>

#include "step_under_test.h"

namespace nbody::test {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  // Draws a number on a logarithmic scale: a number between 1 and 10 is as likely as one between 10
  // and 100.
  double logarithmic(double low, double high) {
    return std::exp(uniform(std::log(low), std::log(high)));
  }
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  bool chance(double probability) { return uniform(0, 1) < probability; }
  Vector3 in_cube() { return {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)}; }
  Vector3 on_sphere() {
    const double z = uniform(-1, 1), angle = uniform(0, 2 * std::numbers::pi);
    return {std::sqrt(1 - z * z) * std::cos(angle), std::sqrt(1 - z * z) * std::sin(angle), z};
  }

 private:
  std::mt19937_64 engine_;
};

const char* const kShapes[] = {"cube", "shell", "line",       "plane", "pairs",
                               "cusp", "grid",  "coincident", "disc"};

struct Problem {
  Systems start;
  double dt, softening;
  int steps;
  Integrator integrator;
  const char* shape;
  double offset;
  double length_unit, mass_unit;
  Approximation approximation;

  std::string text() const {
    return std::to_string(start.count) + " systems of " + std::to_string(start.bodies_per_system) +
           " bodies (" + shape + ", " + std::to_string(offset) + " from the origin), " +
           std::to_string(steps) + " steps of " + std::to_string(dt) + ", softening " +
           std::to_string(softening) + ", " + to_string(integrator) + ", in units of " +
           std::to_string(length_unit) + " and " + std::to_string(mass_unit) + ", theta " +
           std::to_string(approximation.theta) + ", multipole " +
           std::to_string(approximation.multipole);
  }
};

Vector3 place(Dice& dice, std::string_view shape, int i, const Vector3& previous) {
  if (shape == "shell") return dice.on_sphere();
  if (shape == "line") return {dice.uniform(-1, 1), 0, 0};
  if (shape == "plane") return {dice.uniform(-1, 1), dice.uniform(-1, 1), 0};
  if (shape == "pairs" && i % 2 == 1)
    return previous + dice.logarithmic(1e-5, 0.1) * dice.on_sphere();
  if (shape == "cusp") return dice.logarithmic(1e-3, 10) * dice.on_sphere();
  if (shape == "grid") return {i % 10 * 0.2, i / 10 % 10 * 0.2, i / 100 * 0.2};
  if (shape == "disc") {  // a disc around the first body
    const double r = dice.uniform(0.3, 1), angle = dice.uniform(0, 2 * std::numbers::pi);
    return i == 0 ? Vector3{} : Vector3{r * std::cos(angle), r * std::sin(angle), 0};
  }
  if (shape == "coincident" && dice.chance(0.3)) return previous;
  return dice.in_cube();
}

Systems random_systems(Dice& dice, int systems, int bodies, std::string_view shape, double offset) {
  Systems result(systems, bodies);
  const double massless = dice.chance(0.3) ? dice.uniform(0, 1) : 0;
  const double lightest = dice.logarithmic(1e-6, 1);
  const double mass = dice.logarithmic(1e-3, 1e3);
  const bool disc = shape == "disc";
  const bool star = disc || dice.chance(0.2);  // the first body is heavier than all others together
  // The force of one planetesimal is below the last digit of the star's force, but the sum of all
  // planetesimals' forces is not.
  const double planetesimal = mass * dice.logarithmic(1e-9, 1e-5);
  const double speed = dice.chance(0.2) ? 0 : std::sqrt(mass) * dice.logarithmic(0.1, 10);
  const Vector3 centre = offset * dice.on_sphere();
  Vector3 previous;
  for (int k = 0; k < systems * bodies; ++k) {
    const Vector3 x = place(dice, shape, k % bodies, previous), v = speed * dice.in_cube();
    double m = dice.chance(massless) ? 0 : mass * dice.logarithmic(lightest, 1) / bodies;
    if (disc) m = planetesimal;
    if (star && k % bodies == 0) m = 3 * mass;
    const Vector3 at = x + centre;
    result.bodies[static_cast<std::size_t>(k)] = rounded({at.x, at.y, at.z, v.x, v.y, v.z, m});
    previous = x;
  }
  return result;
}

// Expresses the problem in other units of length and mass, which determine the units of velocity
// and time.
void change_units(Problem& p, double length, double mass) {
  const double speed = std::sqrt(mass / length);
  for (Body& b : p.start.bodies) {
    for (float* x : {&b.x, &b.y, &b.z}) *x = static_cast<float>(*x * length);
    for (float* v : {&b.vx, &b.vy, &b.vz}) *v = static_cast<float>(*v * speed);
    b.mass = static_cast<float>(b.mass * mass);
  }
  p.softening *= length;
  p.dt *= length / speed;
  p.length_unit = length, p.mass_unit = mass;
}

// Draws an approximation if the validator can build the step's tree; other steps open every node.
Approximation random_approximation(Dice& dice) {
  if (!step().info.tree || step().info.approximation->force_tolerance) return {};
  const float angles[] = {0, 0.15f, 0.3f, 0.45f, 0.6f, 0.8f, 1};
  return {angles[dice.integer(0, std::size(angles) - 1)], dice.chance(0.7) ? 2 : 0, {}};
}

// Limits a problem to the number of interactions that an emulated step computes in a few hundredths
// of a second. This number includes the validator's runs, which repeat the time steps and add five.
Problem random_problem(Dice& dice) {
  constexpr double kInteractions = 1.5e7;
  for (;;) {
    const int systems = static_cast<int>(dice.logarithmic(1, 9.99));
    const int bodies = static_cast<int>(dice.logarithmic(1, 1200));
    const int steps = static_cast<int>(dice.logarithmic(1, 300));
    if (1.0 * systems * bodies * bodies * (2 * steps + 5) > kInteractions) continue;
    const char* const shape = kShapes[dice.integer(0, std::size(kShapes) - 1)];
    const double offset = dice.chance(0.5) ? 0 : dice.logarithmic(1, 1e4);
    Problem problem{random_systems(dice, systems, bodies, shape, offset),
                    dice.logarithmic(1e-4, 0.1),
                    dice.logarithmic(1e-3, 0.5),
                    steps,
                    dice.chance(0.5) ? Integrator::leapfrog : Integrator::euler,
                    shape,
                    offset,
                    1,
                    1,
                    {}};
    if (dice.chance(0.5))
      change_units(problem, dice.logarithmic(1e-6, 1e6), dice.logarithmic(1e-6, 1e6));
    if (dice.chance(0.2)) problem.dt = -problem.dt;
    problem.approximation = random_approximation(dice);
    return problem;
  }
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(SweepRandom, RejectsNoRightProblem) {
  const std::uint64_t seed = number_from("NBODY_TEST_SEED", 1);
  const std::uint64_t cases = number_from("NBODY_TEST_CASES", 4);
  std::map<std::string, double> closest;  // the largest value / limit of each check
  std::uint64_t undecided = 0;
  for (std::uint64_t k = 0; k < cases; ++k) {
    Dice dice(seed + k);
    const Problem p = random_problem(dice);
    const auto mode = dice.chance(0.5) ? ValidationMode::full : ValidationMode::sampled;
    const Validation validation =
        validated(p.start, p.dt, p.steps, p.softening, mode, p.integrator, p.approximation);
    for (const Check& check : validation.checks) {
      EXPECT_FALSE(check.failed())
          << check.name << ' ' << check.value << " > " << check.limit << ": " << p.text()
          << "; repeat it with NBODY_TEST_SEED=" << seed + k << " NBODY_TEST_CASES=1";
      undecided += !check.decided;
      if (check.decided)
        closest[check.name] =
            std::max(closest[check.name], relative_error(check.value, check.limit));
    }
  }
  std::printf(
      "    %d problems from NBODY_TEST_SEED=%llu, %d checks undecided; closest to a limit:\n",
      static_cast<int>(cases), static_cast<unsigned long long>(seed), static_cast<int>(undecided));
  for (const auto& [name, share] : closest) std::printf("    %-18s %.2f\n", name.c_str(), share);
}

}  // namespace
}  // namespace nbody::test
