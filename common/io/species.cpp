#include "io/species.h"

#include <algorithm>

#include "nbody/error.h"
#include "support/text.h"

namespace nbody {

std::optional<Species> species_of(std::string_view name) {
  const auto found = std::find(kSpeciesNames.begin(), kSpeciesNames.end(), name);
  if (found == kSpeciesNames.end()) return std::nullopt;
  return static_cast<Species>(found - kSpeciesNames.begin());
}

std::vector<Species> parse_species(const std::string& option, std::string_view list) {
  std::vector<Species> chosen;
  for (;;) {
    const auto comma = list.find(',');
    const std::string word(list.substr(0, comma));
    const auto species = species_of(word);
    if (!species) refuse(option, word, "a list of ", listed(kSpeciesNames));
    if (std::find(chosen.begin(), chosen.end(), *species) != chosen.end())
      throw UsageError(option, ": \"", word, "\" is given twice");
    chosen.push_back(*species);
    if (comma == std::string_view::npos) return chosen;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace nbody
