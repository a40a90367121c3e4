#include "physics/trajectory.h"

#include <cmath>

#include "physics/reference.h"
#include "physics/validation.h"
#include "physics/wide.h"

namespace nbody {
namespace {

struct Trajectory {
  double error = 0;       // of the step, relative to the RMS distance from the origin
  double divergence = 0;  // of the reference with a state rounded after every step, likewise
};

template <class Real>
Trajectory compare(const ValidationInput<Real>& input, int s) {
  const auto start = input.start.system(s), end = input.end.system(s);
  BasicReference<Wide<Real>> exact(start), rounded(start);
  for (int step = 0; step < input.steps; ++step) {
    exact.advance(input.dt, input.softening_squared);
    rounded.advance(input.dt, input.softening_squared);
    rounded.template round_to<Real>();
  }
  Wide<Real> extent = 0, error = 0, divergence = 0;
  for (int i = 0; i < exact.size(); ++i) {
    const auto x = exact.position(i);
    const auto of_step = position<Wide<Real>>(end[static_cast<std::size_t>(i)]) - x;
    const auto of_rounding = rounded.position(i) - x;
    extent += dot(x, x);
    error += dot(of_step, of_step);
    divergence += dot(of_rounding, of_rounding);
  }
  const auto relative = [&](Wide<Real> squares) {
    return relative_error(static_cast<double>(std::sqrt(squares)),
                          static_cast<double>(std::sqrt(extent)));
  };
  return {relative(error), relative(divergence)};
}

}  // namespace

template <class Real>
Gate trajectory_gate(const ValidationInput<Real>& input, const std::vector<int>& systems,
                     double force_limit) {
  std::vector<Trajectory> trajectories(systems.size());
  // Small systems side by side, the bodies of large ones.
#pragma omp parallel for schedule(dynamic) if (input.start.bodies_per_system <= 64)
  for (std::size_t k = 0; k < systems.size(); ++k) trajectories[k] = compare(input, systems[k]);

  const double floor = 2e-6 * kRounding<Real>;
  // A step's forces err by force_limit where the rounded reference errs by a rounding.
  const double per_divergence = 4 * force_limit / (6e-8 * kRounding<Real>);
  Gate gate{"trajectory", 0, floor};
  std::size_t chaotic = 0;
  for (const Trajectory& trajectory : trajectories) {
    const double limit = floor + per_divergence * trajectory.divergence;
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
