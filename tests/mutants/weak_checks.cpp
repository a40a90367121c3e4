#include "weak_checks.h"

#include <algorithm>
#include <cmath>

#include "physics/reference.h"
#include "run/simulation.h"

namespace nbody::test {
namespace {

// Returns |x - x_ref| for every body of every system, in memory order.
std::vector<double> position_errors(const Systems& start, const Systems& end, const Run& run) {
  std::vector<double> errors;
  for (int s = 0; s < start.count; ++s) {
    ReferenceSystem reference(start.system(s));
    for (int step = 0; step < run.steps; ++step) reference.advance(run.dt, run.softening_squared);
    for (int i = 0; i < reference.size(); ++i) {
      const Body& body = end.system(s)[static_cast<std::size_t>(i)];
      errors.push_back(length(position(body) - reference.position(i)));
    }
  }
  return errors;
}

struct Outcome {
  std::vector<double> errors;
  double interactions_per_second;
};

Outcome simulated(Simulate simulate, const Systems& start, const Run& run) {
  Systems systems = start;
  const Timing timing = timed(simulate, run, systems);
  const double n = start.bodies_per_system;
  return {
      position_errors(start, systems, run),
      start.count * n * n * run.steps / timing.compute,
  };
}

double root_mean_square_distance(const Systems& systems) {
  double sum = 0;
  for (const Body& b : systems.bodies) sum += dot(position(b), position(b));
  return std::sqrt(sum / static_cast<double>(systems.bodies.size()));
}

}  // namespace

WeakChecks weak_checks(const Job& job, Simulate simulate) {
  const Systems& start = job.start.systems;
  const double tolerance = 1e-5 * root_mean_square_distance(start);
  Run short_run = job.run;
  short_run.dt = 1e-3f;
  short_run.steps = 1;
  const auto short_errors = simulated(simulate, start, short_run).errors;
  const Outcome run = simulated(simulate, start, job.run);

  const auto within = [](double limit) { return [=](double error) { return error <= limit; }; };
  const auto quarter =
      run.errors.begin() + static_cast<std::ptrdiff_t>((run.errors.size() + 3) / 4);
  WeakChecks result;
  result.one_short_step = std::all_of(short_errors.begin(), short_errors.end(), within(5e-4));
  result.a_quarter = std::all_of(run.errors.begin(), quarter, within(tolerance));
  result.blind_to_nan = std::none_of(run.errors.begin(), run.errors.end(),
                                     [=](double error) { return error > tolerance; });
  result.throughput = run.interactions_per_second > 0;
  return result;
}

}  // namespace nbody::test
