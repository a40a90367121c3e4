// The modes that need no GPU. The three parts of a time step are loops, which run on one thread or,
// with OpenMP, on all cores.
#include <cmath>

#include "activity_map.h"

namespace activity {
namespace {

// A sum of accelerations.
struct Force {
  float x, y;
};
Force force_on(const std::vector<Body2d>& bodies, const Body2d& body, float softening_squared) {
  Force sum = {0, 0};
  for (const Body2d& other : bodies) {
    const float dx = other.x - body.x, dy = other.y - body.y;
    const float distance_squared = dx * dx + dy * dy + softening_squared;
    const float s = other.mass / (distance_squared * std::sqrt(distance_squared));
    sum.x += s * dx;
    sum.y += s * dy;
  }
  return sum;
}

void move(Body2d& body, Force force, float dt) {
  body.vx += force.x * dt;
  body.vy += force.y * dt;
  body.x += body.vx * dt;
  body.y += body.vy * dt;
}

// Returns the same cell as cell_of() in map.cuh; -1 means outside the map.
long long cell_of(const Body2d& body, const Problem& problem) {
  const auto cells = static_cast<float>(problem.cells);
  const float per_length = cells / (2 * problem.extent);
  const float column = std::floor((body.x + problem.extent) * per_length);
  const float row = std::floor((body.y + problem.extent) * per_length);
  if (!(column >= 0 && column < cells && row >= 0 && row < cells)) return -1;
  return static_cast<long long>(row) * problem.cells + static_cast<long long>(column);
}

}  // namespace

Outcome simulate_on_cpu(CpuMode mode, const Problem& problem, const std::vector<Body2d>& start) {
  const nbody::Stopwatch stopwatch;
  Outcome outcome;
  outcome.bodies = start;
  auto& bodies = outcome.bodies;
  std::vector<Force> forces(bodies.size());
  const auto n = static_cast<long long>(bodies.size());
  const auto side = static_cast<std::size_t>(problem.cells);
  for (int step = 0; step < problem.steps; ++step) {
    // The threads share no output: each writes only the forces on its own bodies.
#pragma omp parallel for schedule(static) if (mode == CpuMode::openmp)
    for (long long i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      forces[k] = force_on(bodies, bodies[k], problem.softening_squared);
    }
    // Several threads could add to one cell at the same time, so a single thread counts.
    outcome.map.assign(side * side, 0.0f);
    for (std::size_t k = 0; k < bodies.size(); ++k) {
      move(bodies[k], forces[k], problem.dt);
      const long long cell = cell_of(bodies[k], problem);
      if (cell >= 0) outcome.map[static_cast<std::size_t>(cell)] += 1.0f;
    }
    const float factor = 1.0f / static_cast<float>(n);
    for (float& share : outcome.map) share *= factor;
  }
  outcome.timing.compute = outcome.timing.total = stopwatch.seconds();
  return outcome;
}

nbody::Platform cpu_platform() {
  return nbody::platform_of({.backend = "cpu", .flags = NBODY_FLAGS, .count = 1});
}

}  // namespace activity
