// Initial conditions by name, in units where G = 1. The same name, sizes, parameters and seed give
// the same bodies on every platform, bit for bit: the random generator is std::mt19937_64, and
// everything else is IEEE 754 arithmetic in a fixed order (common/scenarios/portable_math.h
// explains why the library's exp must not be used). The number of threads has no effect.
//
//   plummer       Aarseth, Henon & Wielen 1974, A&A 37, 183. rho ~ (1 + r^2/a^2)^(-5/2), isotropic;
//                 r = (X^(-2/3) - 1)^(-1/2) a; density of q = v / v_esc: q^2 (1 - q^2)^(7/2).
//                 Henon units: M = 1, a = 3 pi / 16, so that E = -1/4, T = 1/4, W = -1/2.
//   galaxies      Plummer spheres, each an independent system
//   uniform       mini-nbody's random cube, not in equilibrium
//   star-cluster  a Plummer sphere of stars whose masses follow Salpeter's law
//   cold-sphere   uniform sphere, M = R = 1, W = -3/5, at rest: it collapses in the free-fall time
//                 (pi/2) sqrt(R^3 / 2M) = 1.11 (Binney & Tremaine 2008, section 3.1). With a
//                 virial-ratio 2T/|W| above 0, the initial velocities are normally distributed.
//   kuzmin        Kuzmin's disk (Binney & Tremaine 2008, section 2.3.1): all bodies in a plane,
//                 Sigma = M a / (2 pi (R^2 + a^2)^(3/2)), on circles with
//                 v_c^2 = M R^2 / (R^2 + a^2)^(3/2); cut at the radius that
//                 contains 95 % of the mass. Without random motions and without a halo it is
//                 violently unstable.
//   disk-halo     Hernquist 1993, ApJS 86, 389; units M_d = R_d = 1. A third of the bodies are an
//                 exponential disk, Sigma = exp(-R) / 2 pi, rho ~ sech^2(z / 0.1), R < 10; two
//                 thirds are a live halo, M_h(r) = halo-mass r^2 / (r + halo-scale)^2, cut at 10
//                 scales.
//     rotation    v_c^2 = 2 y^2 (I0 K0 - I1 K1) + M_h(R) / R, y = R/2 (Freeman 1970, ApJ 160, 811);
//                 Omega = v_c / R, kappa^2 = 2 Omega^2 + (d v_c^2 / dR) / R
//     disk        sigma_R^2 ~ exp(-sqrt(R^2 + 2/16)), scaled so that Toomre's
//                 Q = sigma_R kappa / 3.36 Sigma is `toomre` at R = 2;
//                 sigma_phi^2 = sigma_R^2 kappa^2 / 4 Omega^2; sigma_z^2 = pi Sigma z0;
//                 <v_phi>^2 = v_c^2 + sigma_R^2 (1 - kappa^2 / 4 Omega^2 - 2 R)
//     halo        rho sigma^2 = integral from r of rho (M_h + M_d) / r^2, the isotropic Jeans
//                 equation; normally distributed velocities below 0.95 of the escape speed
//   spiral        disk-halo with a cold disk (toomre = 0), which breaks up into arms
//   collision     two disk-halo galaxies that approach like point masses on a parabola with this
//                 `pericentre`: at distance d, v = sqrt(2M/d), v_t = sqrt(2 M pericentre) / d
//   two-body      a Kepler ellipse at pericentre, r = a(1-e), v = sqrt(M(1+e) / (a(1-e)))
//   figure-eight  Chenciner & Montgomery 2000, Ann. Math. 152, 881; digits by C. Simo
//   solar-system, sun-earth-moon  JPL DE405 at J2000.0; AU, solar masses, years / 2 pi
//   test-particles  the Solar System and a belt of bodies without mass at 2 to 4 AU
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "io/snapshot_file.h"
#include "nbody/bodies.h"

namespace nbody {

// A numerical parameter that a scenario has in addition to its sizes.
struct Parameter {
  std::string_view name;
  std::string_view description;
  double value;  // the default
  double low, high;
};

struct Scenario {
  std::string_view name;
  std::string_view description;  // one line, with its source
  int systems;                   // default S
  int bodies;                    // default N
  bool fixed_bodies;             // N cannot be chosen (two-body, figure-eight, solar-system)
  double dt;                     // default; dt, softening and steps show the scenario well
  double softening;
  int steps;
  std::span<const Parameter> parameters = {};
};

// Returns all scenarios, in the order of the list above.
std::span<const Scenario> scenarios();
std::string scenario_names();  // "plummer, galaxies, ..."
// Throws a UsageError that lists all names if no scenario is called `name`.
const Scenario& find_scenario(std::string_view name);

struct ScenarioSize {
  int systems;
  int bodies;
  std::uint64_t seed;
  // The velocities in spheres are scaled so that 2T/|W| is the scenario's virial ratio, where W is
  // the softened potential energy. Up to N = 2048, W is the sum over all pairs; for larger N, W is
  // estimated from some pairs (to 0.1 %).
  double softening;
  std::map<std::string, double, std::less<>> parameters = {};  // values that replace the defaults
  bool float64 = false;                                        // fill Snapshot::exact too
};
// Throws UsageError for an invalid size or parameter.
Snapshot make_scenario(const Scenario& scenario, const ScenarioSize& size);

}  // namespace nbody
