// The kind of matter that a body represents. Gravity treats all kinds alike, but files store the
// kind of every body.
//
// The species are Gadget's six types, with Gadget's numbers (Springel 2005, users' guide of
// Gadget-2, table 3). Tipsy has three of these types: gas, dark and star.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nbody {

enum class Species : std::uint8_t { gas, dark, disk, bulge, star, boundary };
inline constexpr std::array<std::string_view, 6> kSpeciesNames{"gas",   "dark", "disk",
                                                               "bulge", "star", "boundary"};

constexpr std::string_view to_string(Species species) {
  return kSpeciesNames[static_cast<std::size_t>(species)];
}
std::optional<Species> species_of(std::string_view name);

// Parses a list such as "dark,star". If a word is unknown, empty or repeated, throws a UsageError
// whose message contains `option`.
std::vector<Species> parse_species(const std::string& option, std::string_view list);

}  // namespace nbody
