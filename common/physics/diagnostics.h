// Conserved quantities and shape of one or several systems, in float64.
//
//   T = 1/2 sum m v^2,  W = -1/2 sum_i m_i sum_{j != i} m_j / sqrt(r_ij^2 + eps^2),  E = T + W,
//   P = sum m v,  L = sum m x cross v,  virial ratio 2T / |W|   (Binney & Tremaine 2008, ch. 4)
//
// No bit of the result depends on the number of threads.
#pragma once

#include <array>
#include <span>

#include "nbody/bodies.h"
#include "physics/potential_energy.h"
#include "physics/vector3.h"

namespace nbody {

struct Diagnostics {
  double kinetic = 0;
  double potential = 0;
  double potential_error = 0;  // standard error of an estimate; 0: all pairs were counted
  Vector3 momentum;
  Vector3 angular_momentum;
  Diagnostics& operator+=(const Diagnostics& other);
  bool potential_is_sampled() const { return potential_error > 0; }
  double energy() const { return kinetic + potential; }
  double virial_ratio() const { return potential == 0 ? 0 : 2 * kinetic / -potential; }
};

// Diagnoses one system. An exact potential energy takes N^2 interactions; if N^2 is above `budget`,
// the potential energy is estimated.
Diagnostics diagnose(std::span<const Body> bodies, double softening,
                     double budget = kAllPairsBudget);
Diagnostics diagnose(std::span<const BodyF64> bodies, double softening,
                     double budget = kAllPairsBudget);
// Adds up the diagnostics of all systems. The standard errors of their potentials are independent,
// so their squares add up.
template <class Real>
Diagnostics diagnose(const BasicSystems<Real>& systems, double softening,
                     double budget = kAllPairsBudget) {
  Diagnostics sum;
  for (int s = 0; s < systems.count; ++s)
    sum += diagnose(systems.system(s), softening, budget / systems.count);
  return sum;
}

inline constexpr std::array<double, 5> kLagrangianFractions = {0.10, 0.25, 0.50, 0.75, 0.90};

struct Shape {
  Vector3 centre;  // centre of mass
  // For each of kLagrangianFractions, the radius around the centre of mass that holds this fraction
  // of the mass, counting bodies from the centre outwards.
  std::array<double, kLagrangianFractions.size()> lagrangian_radii{};
};

// Shape of one system; all zero if it has no mass.
Shape shape_of(std::span<const Body> bodies);
Shape shape_of(std::span<const BodyF64> bodies);

}  // namespace nbody
