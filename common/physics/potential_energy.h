// The potential energy of one system, W = -sum_{i < j} m_i m_j / sqrt(r_ij^2 + eps^2), in float64.
#pragma once

#include <span>

#include "nbody/bodies.h"

namespace nbody {

// Up to this number of interactions (N^2 per system, summed over all systems) every pair is
// counted. One system of 100,000 bodies, or 149 systems of 8,192, reach this number, which takes a
// few seconds on two cores.
inline constexpr double kAllPairsBudget = 1e10;

struct PotentialEnergy {
  double value = 0;
  double standard_error = 0;  // standard error of an estimate; 0 if all pairs count
};

// Counts all pairs if N^2 <= budget; otherwise estimates the energy from about `budget`
// interactions.
//
// Each pair belongs to the share of its heavier body, so the few bodies that dominate (a star, a
// black hole) account for their pairs with the many light bodies. The share of body i in W is at
// most about m_i times the total mass of the lighter bodies. Bodies are drawn with a probability
// proportional to that product; the shares of all bodies that would be drawn more than once are
// computed exactly (Hansen & Hurwitz 1943, Ann. Math. Statist. 14, 333, with a certainty stratum;
// systematic selection). The selection depends only on the masses, so it does not change during a
// run.
//
// No bit of the result depends on the number of threads.
PotentialEnergy potential_energy(std::span<const Body> bodies, double softening, double budget);
PotentialEnergy potential_energy(std::span<const BodyF64> bodies, double softening, double budget);

}  // namespace nbody
