// Initial conditions by name. The same name, sizes and seed give the same bodies on every platform:
// the generator is std::mt19937_64 and the distributions are our own (the standard's are not
// fixed). `uniform` and the fixed bodies agree bit for bit; Plummer spheres go through pow and cos,
// whose last bit may differ between libraries, and so may the last bit of a float. The number of
// threads changes nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "nbody/bodies.h"
#include "nbody/input_output.h"

namespace nbody {

struct Scenario {
  std::string_view name;
  std::string_view description;  // one line, with its source
  int systems;                   // default S
  int bodies;                    // default N
  bool fixed_bodies;             // N cannot be chosen (two-body, figure-eight, solar-system)
  double dt;                     // defaults that make the scenario look as it should
  double softening;
  int steps;
};

// plummer, uniform, galaxies, two-body, figure-eight, solar-system
std::span<const Scenario> scenarios();
// Throws UsageError that lists the names.
const Scenario& find_scenario(std::string_view name);

struct ScenarioSize {
  int systems;
  int bodies;
  std::uint64_t seed;
  // Plummer spheres are scaled to virial equilibrium, 2T = |W|, with the softened potential energy
  // W: summed over all pairs up to N = 2048, estimated from a part of them (to 0.1 %) beyond.
  double softening;
};
Snapshot make_scenario(const Scenario& scenario, const ScenarioSize& size);

}  // namespace nbody
