#include "physics/validation/trajectory.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "physics/reference.h"
#include "physics/validation.h"

namespace nbody {
namespace {

// The reference motion is computed kAttempts times with errors that a correct program may have. By
// chance, one of these attempts may end close to the exact motion, but it is unlikely that all do.
constexpr int kAttempts = 4;

struct Trajectory {
  double error = 0;       // the step's error: see difference()
  double divergence = 0;  // the largest deviation, on the same scale, of a reference with errors
};

double limit_of(const Trajectory& trajectory, double floor) {
  return floor + 3 * trajectory.divergence;
}

// Returns the RMS error of vectors. Each error is relative to the vector's length, but at least to
// the median length, so that a distant body does not hide the errors of the others.
template <class Exact, class Found>
double difference(int count, const Exact& exact, const Found& found) {
  using W = decltype(length(exact(0)));
  std::vector<W> lengths(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) lengths[static_cast<std::size_t>(i)] = length(exact(i));
  const auto middle = lengths.begin() + count / 2;
  std::nth_element(lengths.begin(), middle, lengths.end());
  const W median = *middle;
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    const W error = length(found(i) - exact(i));
    const double relative = relative_error(error, std::max(median, length(exact(i))));
    sum += relative * relative;
  }
  return std::sqrt(sum / count);
}

// Returns the errors of positions and of velocities.
template <class Wide, class Position, class Velocity>
std::array<double, 2> differences(const BasicReference<Wide>& exact, const Position& position,
                                  const Velocity& velocity) {
  return {difference(
              exact.size(), [&](int i) { return exact.position(i); }, position),
          difference(
              exact.size(), [&](int i) { return exact.velocity(i); }, velocity)};
}

// Compares the positions and the velocities of a system at the end of a run.
template <class Real>
std::array<Trajectory, 2> compare(const ValidationInput<Real>& input, int s, double floor,
                                  double force_limit) {
  using W = Wide<Real>;
  using Reference = BasicReference<W>;
  Reference exact(input.start.system(s));
  for (int step = 0; step < input.steps; ++step) exact.advance(input.dt, input.softening_squared);
  const auto end = input.end.system(s);
  const auto errors = differences(
      exact, [&](int i) { return position<W>(end[static_cast<std::size_t>(i)]); },
      [&](int i) { return velocity<W>(end[static_cast<std::size_t>(i)]); });
  std::array<Trajectory, 2> results{{{errors[0]}, {errors[1]}}};
  const auto is_within_limits = [&] {
    return std::ranges::all_of(results, [&](const Trajectory& trajectory) {
      return trajectory.error <= limit_of(trajectory, floor);
    });
  };
  if (is_within_limits()) return results;  // the errors are below every possible limit
  const auto diverged = [&](const Reference& other) {
    const auto by = differences(
        exact, [&](int i) { return other.position(i); }, [&](int i) { return other.velocity(i); });
    for (std::size_t k = 0; k < results.size(); ++k)
      results[k].divergence = max_or_nan(results[k].divergence, by[k]);
  };
  std::mt19937 random(1);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    // A body that moves uniformly has the same rounding error in every step and in every attempt.
    // In every second attempt, random errors before the rounding represent programs that round
    // differently.
    const W rounding = attempt % 2 == 0 ? 0 : unit_roundoff<Real>;
    Reference rough(input.start.system(s));
    for (int step = 0; step < input.steps; ++step) {
      // The force of a group of distant bodies has the same error for many steps, so each step
      // draws the same random numbers.
      if (input.approximation.theta > 0) random.seed(static_cast<unsigned>(attempt));
      rough.advance_roughly(input.dt, input.softening_squared, force_limit, rounding, random);
    }
    diverged(rough);
  }
  if (is_within_limits()) return results;
  // If one interaction dominates a sum, the rounding error of the sum is not random: it is the same
  // at every step.
  Reference rounded(input.start.system(s));
  const int tile = input.summation == Summation::tiled ? kLargestTile : exact.size();
  for (int step = 0; step < input.steps; ++step)
    rounded.advance_rounded(input.dt, input.softening_squared, tile);
  diverged(rounded);
  return results;
}

}  // namespace

template <class Real>
Check trajectory_check(const ValidationInput<Real>& input, const std::vector<int>& systems,
                       double force_limit) {
  // A body that moves uniformly has the same rounding error at every step, so its errors add up.
  const double floor = 2e-6 * kRounding<Real> + unit_roundoff<Real> * input.steps;
  std::vector<std::array<Trajectory, 2>> trajectories(systems.size());
  // Small systems are computed in parallel. Large systems are computed one after another, and the
  // bodies of each in parallel.
#pragma omp parallel for schedule(dynamic) if (!is_worth_a_team(input.start.bodies_per_system))
  for (std::size_t k = 0; k < systems.size(); ++k)
    trajectories[k] = compare(input, systems[k], floor, force_limit);

  Check check{"trajectory", 0, floor};
  std::size_t chaotic = 0;
  for (const auto& [positions, velocities] : trajectories) {
    if (limit_of(positions, floor) > kMaxLimit) {
      ++chaotic;
      continue;
    }
    check.keep_worse(positions.error, limit_of(positions, floor));
    // A close encounter changes velocities before positions.
    if (limit_of(velocities, floor) <= kMaxLimit)
      check.keep_worse(velocities.error, limit_of(velocities, floor));
  }
  check.decided = chaotic < systems.size();
  if (chaotic > 0) {
    check.open = "too chaotic at this length";
    if (systems.size() > 1)
      check.open +=
          " in " + std::to_string(chaotic) + " of " + std::to_string(systems.size()) + " systems";
  }
  return check;
}

template Check trajectory_check(const ValidationInput<float>&, const std::vector<int>&, double);
template Check trajectory_check(const ValidationInput<double>&, const std::vector<int>&, double);

}  // namespace nbody
