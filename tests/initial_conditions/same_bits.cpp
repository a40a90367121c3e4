// same_bits FILE compares the bits of every scenario in float32 with the hashes in FILE. The bits
// must be the same on every platform, as scenarios/initial_conditions.h guarantees. Without FILE,
// same_bits prints the hashes.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "scenarios/initial_conditions.h"

namespace {

// Computes an FNV-1a hash over the bits of one float after another.
std::uint64_t hash_of(const nbody::Systems& systems) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const nbody::Body& b : systems.bodies)
    for (const float value : {b.x, b.y, b.z, b.vx, b.vy, b.vz, b.mass})
      hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 0x100000001b3u;
  return hash;
}

// Uses 3000 bodies: with more than 2048, the scenarios only estimate the potential energy, and the
// test should cover this estimate.
std::string list_of_hashes() {
  std::string list;
  for (const nbody::Scenario& scenario : nbody::scenarios()) {
    const int bodies = scenario.fixed_bodies ? scenario.bodies : 3000;
    const auto made = nbody::make_scenario(scenario, {2, bodies, 42, scenario.softening});
    char line[80];
    std::snprintf(line, sizeof line, "%-15s %016llx\n", std::string(scenario.name).c_str(),
                  static_cast<unsigned long long>(hash_of(made.systems)));
    list += line;
  }
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string list = list_of_hashes();
  if (argc < 2) {
    std::cout << list;
    return 0;
  }
  std::ifstream file(argv[1]);
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  if (list == expected) return 0;
  std::cerr << argv[1] << " has\n" << expected << "but this build has\n" << list;
  return 1;
}
