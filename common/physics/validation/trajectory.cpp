#include "physics/validation/trajectory.h"

#include <cmath>
#include <random>

#include "physics/reference.h"
#include "physics/validation.h"

namespace nbody {
namespace {

// The reference motion is computed kAttempts times with errors that a correct program may have. By
// chance, one of these attempts may end close to the exact motion, but it is unlikely that all do.
constexpr int kAttempts = 4;

struct Trajectory {
  double error = 0;       // the step's error, relative to the RMS distance from the origin
  double divergence = 0;  // the largest deviation, on the same scale, of a reference with errors
};

double limit_of(const Trajectory& trajectory, double floor) {
  return floor + 3 * trajectory.divergence;
}

template <class Wide, class Position>
double distance(const BasicReference<Wide>& exact, const Position& position) {
  Wide extent = 0, error = 0;
  for (int i = 0; i < exact.size(); ++i) {
    const auto x = exact.position(i), difference = position(i) - x;
    extent += dot(x, x);
    error += dot(difference, difference);
  }
  return root_of_ratio(error, extent);
}

template <class Real>
Trajectory compare(const ValidationInput<Real>& input, int s, double floor, double force_limit) {
  using Reference = BasicReference<Wide<Real>>;
  Reference exact(input.start.system(s));
  for (int step = 0; step < input.steps; ++step) exact.advance(input.dt, input.softening_squared);
  const auto end = input.end.system(s);
  Trajectory result{distance(
      exact, [&](int i) { return position<Wide<Real>>(end[static_cast<std::size_t>(i)]); })};
  if (result.error <= floor) return result;  // the error is below every possible limit
  const auto diverged = [&](const Reference& other) {
    result.divergence =
        max_or_nan(result.divergence, distance(exact, [&](int i) { return other.position(i); }));
  };
  std::mt19937 random(1);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    // A body that moves uniformly has the same rounding error in every step and in every attempt.
    // In every second attempt, random errors before the rounding represent programs that round
    // differently.
    const Wide<Real> rounding = attempt % 2 == 0 ? 0 : unit_roundoff<Real>;
    Reference rough(input.start.system(s));
    for (int step = 0; step < input.steps; ++step) {
      // The force of a group of distant bodies has the same error for many steps, so each step
      // draws the same random numbers.
      if (input.approximation.theta > 0) random.seed(static_cast<unsigned>(attempt));
      rough.advance_roughly(input.dt, input.softening_squared, force_limit, rounding, random);
    }
    diverged(rough);
  }
  if (result.error <= limit_of(result, floor)) return result;
  // If one interaction dominates a sum, the rounding error of the sum is not random: it is the same
  // at every step.
  Reference rounded(input.start.system(s));
  const int tile = input.summation == Summation::tiled ? kLargestTile : exact.size();
  for (int step = 0; step < input.steps; ++step)
    rounded.advance_rounded(input.dt, input.softening_squared, tile);
  diverged(rounded);
  return result;
}

}  // namespace

template <class Real>
Gate trajectory_gate(const ValidationInput<Real>& input, const std::vector<int>& systems,
                     double force_limit) {
  // A body that moves uniformly has the same rounding error at every step, so its errors add up.
  const double floor = 2e-6 * kRounding<Real> + unit_roundoff<Real> * input.steps;
  std::vector<Trajectory> trajectories(systems.size());
  // Small systems are computed in parallel. Large systems are computed one after another, and the
  // bodies of each in parallel.
#pragma omp parallel for schedule(dynamic) if (!is_worth_a_team(input.start.bodies_per_system))
  for (std::size_t k = 0; k < systems.size(); ++k)
    trajectories[k] = compare(input, systems[k], floor, force_limit);

  Gate gate{"trajectory", 0, floor};
  std::size_t chaotic = 0;
  for (const Trajectory& trajectory : trajectories) {
    const double limit = limit_of(trajectory, floor);
    if (limit <= kMaxLimit)
      gate.keep_worse(trajectory.error, limit);
    else
      ++chaotic;
  }
  gate.decided = chaotic < systems.size();
  if (chaotic > 0) {
    gate.open = "too chaotic at this length";
    if (systems.size() > 1)
      gate.open +=
          " in " + std::to_string(chaotic) + " of " + std::to_string(systems.size()) + " systems";
  }
  return gate;
}

template Gate trajectory_gate(const ValidationInput<float>&, const std::vector<int>&, double);
template Gate trajectory_gate(const ValidationInput<double>&, const std::vector<int>&, double);

}  // namespace nbody
