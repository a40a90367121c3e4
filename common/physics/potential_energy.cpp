#include "physics/potential_energy.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "physics/simd_clones.h"

namespace nbody {
namespace {

// Bodies sorted by mass, heaviest first, in one array per component, so that loops can use vector
// registers.
struct Sources {
  std::vector<double> x, y, z, mass;
  std::size_t size() const { return mass.size(); }
};

template <class Real>
Sources by_mass(std::span<const BasicBody<Real>> bodies) {
  std::vector<std::size_t> order(bodies.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto is_heavier = [&](std::size_t a, std::size_t b) {
    return bodies[a].mass > bodies[b].mass;
  };
  // Sorting a million equal masses takes a tenth of a second.
  if (!std::is_sorted(order.begin(), order.end(), is_heavier))
    std::stable_sort(order.begin(), order.end(), is_heavier);
  Sources sources;
  for (std::vector<double>* values : {&sources.x, &sources.y, &sources.z, &sources.mass})
    values->reserve(bodies.size());
  for (const std::size_t i : order) {
    sources.x.push_back(bodies[i].x);
    sources.y.push_back(bodies[i].y);
    sources.z.push_back(bodies[i].z);
    sources.mass.push_back(bodies[i].mass);
  }
  return sources;
}

// Returns the share of body i in -W: the sum over the pairs of body i with all lighter bodies.
NBODY_CLONES
double share_of(const Sources& sources, std::size_t i, double softening_squared) {
  const double *x = sources.x.data(), *y = sources.y.data(), *z = sources.z.data();
  const double* mass = sources.mass.data();
  const double xi = x[i], yi = y[i], zi = z[i];
  const std::size_t n = sources.size();
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t j = i + 1; j < n; ++j) {
    const double dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
    sum += mass[j] / std::sqrt(dx * dx + dy * dy + dz * dz + softening_squared);
  }
  return mass[i] * sum;
}

std::vector<double> shares_of(const Sources& sources, const std::vector<std::size_t>& which,
                              double softening) {
  std::vector<double> shares(which.size());
  // The schedule is dynamic, because the first bodies have the most partners. Each share is stored
  // separately, so the threads do not change the order of the sum.
#pragma omp parallel for schedule(dynamic, 16) if (which.size() > 64)
  for (std::size_t k = 0; k < which.size(); ++k) {
    shares[k] = share_of(sources, which[k], softening * softening);
  }
  return shares;
}

struct Selection {
  std::vector<std::size_t> certain;
  std::vector<std::size_t> drawn;      // a body may be drawn twice
  std::vector<double> inverse_chance;  // 1 / probability in one draw, for each drawn body
};

Selection select(const Sources& sources, std::size_t draws) {
  std::vector<double> weights(sources.size());
  double lighter = 0;
  for (std::size_t i = sources.size(); i-- > 0;) {
    weights[i] = sources.mass[i] * lighter;
    lighter += sources.mass[i];
  }
  // The weights are in decreasing order, so the bodies whose weight exceeds the sampling interval
  // come first. When such a body is removed, the interval for the remaining bodies becomes shorter.
  Selection selection;
  double left = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::size_t next = 0;
  while (next < weights.size() && weights[next] * static_cast<double>(draws) > left) {
    selection.certain.push_back(next);
    left -= weights[next++];
  }
  const double interval = left / static_cast<double>(draws);
  double passed = 0;
  for (double mark = interval / 2; next < weights.size(); ++next) {
    passed += weights[next];
    for (; mark < passed && selection.drawn.size() < draws; mark += interval) {
      selection.drawn.push_back(next);
      selection.inverse_chance.push_back(left / weights[next]);
    }
  }
  return selection;
}

template <class Real>
PotentialEnergy potential_energy_of(std::span<const BasicBody<Real>> bodies, double softening,
                                    double budget) {
  const Sources sources = by_mass(bodies);
  const auto n = static_cast<double>(sources.size());
  if (n * n <= budget) {
    std::vector<std::size_t> all(sources.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const std::vector<double> shares = shares_of(sources, all, softening);
    return {-std::accumulate(shares.begin(), shares.end(), 0.0)};
  }
  constexpr double kFewestDraws = 100;  // fewer draws do not show how much the shares vary
  const auto draws = static_cast<std::size_t>(std::max(budget / n, kFewestDraws));
  const Selection selection = select(sources, draws);
  const std::vector<double> certain = shares_of(sources, selection.certain, softening);
  std::vector<double> estimates = shares_of(sources, selection.drawn, softening);
  for (std::size_t k = 0; k < estimates.size(); ++k) estimates[k] *= selection.inverse_chance[k];

  PotentialEnergy result{-std::accumulate(certain.begin(), certain.end(), 0.0)};
  if (estimates.empty()) return result;
  const auto count = static_cast<double>(estimates.size());
  const double mean = std::accumulate(estimates.begin(), estimates.end(), 0.0) / count;
  double squares = 0;
  for (const double estimate : estimates) squares += (estimate - mean) * (estimate - mean);
  result.value -= mean;
  result.standard_error = std::sqrt(squares / (count - 1) / count);
  return result;
}

}  // namespace

PotentialEnergy potential_energy(std::span<const Body> bodies, double softening, double budget) {
  return potential_energy_of(bodies, softening, budget);
}
PotentialEnergy potential_energy(std::span<const BodyF64> bodies, double softening, double budget) {
  return potential_energy_of(bodies, softening, budget);
}

}  // namespace nbody
