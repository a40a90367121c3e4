#include "check.h"

#include <random>

#include "experiments/acceleration_error.h"
#include "physics/activity_map.h"

namespace activity {
namespace {

nbody::Systems in_three_dimensions(const std::vector<Body2d>& bodies) {
  nbody::Systems systems(1, static_cast<int>(bodies.size()));
  std::transform(bodies.begin(), bodies.end(), systems.bodies.begin(), [](const Body2d& body) {
    return nbody::Body{body.x, body.y, 0, body.vx, body.vy, 0, body.mass};
  });
  return systems;
}

double acceleration_error(const Rung& rung, int block, Problem problem,
                          std::vector<Body2d> bodies) {
  // From rest, one step of length 1 sets the velocity to the acceleration.
  for (Body2d& body : bodies) body.vx = body.vy = 0;
  problem.steps = 1;
  problem.dt = 1;
  problem.cells = 1;
  const auto kicked = simulate(rung, block, problem, bodies).bodies;
  return experiments::acceleration_error(in_three_dimensions(bodies).bodies,
                                         problem.softening_squared, [&](std::size_t i) {
                                           return nbody::Vector3{kicked[i].vx, kicked[i].vy, 0};
                                         });
}

double wrong_cells(const Problem& problem, const Outcome& outcome) {
  nbody::ActivityMap expected(problem.cells, problem.extent);
  expected.add(in_three_dimensions(outcome.bodies));
  const float factor = 1.0f / static_cast<float>(outcome.bodies.size());
  double wrong = 0;
  for (int row = 0; row < problem.cells; ++row) {
    for (int column = 0; column < problem.cells; ++column) {
      const std::size_t cell =
          static_cast<std::size_t>(row) * static_cast<std::size_t>(problem.cells) +
          static_cast<std::size_t>(column);
      wrong += outcome.map[cell] != static_cast<float>(expected.count(column, row)) * factor;
    }
  }
  return wrong;
}

}  // namespace

std::vector<Body2d> uniform_bodies(int n) {
  // The positions are sums and products of exact numbers, so their bits are the same everywhere.
  std::mt19937 generator(1);
  const auto coordinate = [&] { return static_cast<float>(generator() >> 8) * 0x1p-23f - 1; };
  const float mass = 1 / static_cast<float>(n);
  std::vector<Body2d> bodies(static_cast<std::size_t>(n));
  for (Body2d& body : bodies) {
    const float x = coordinate();
    body = {x, coordinate(), 0, 0, mass};
  }
  return bodies;
}

Problem problem_of(int cells, int steps) {
  return {.cells = cells,
          .extent = 1,
          .steps = steps,
          .dt = 0.01f,
          .softening_squared = static_cast<float>(kSoftening * kSoftening)};
}

std::vector<nbody::Check> check(const Rung& rung, int block, const Problem& problem,
                                const std::vector<Body2d>& start, const Outcome& outcome) {
  const int n = static_cast<int>(start.size());
  const double error =
      rung.name == "map_alone" ? 0 : acceleration_error(rung, block, problem, start);
  return {{"acceleration_rms", error, nbody::acceleration_rms_limit(nbody::Summation::running, n)},
          {"wrong_cells", wrong_cells(problem, outcome), 0}};
}

}  // namespace activity
