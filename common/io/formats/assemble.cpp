// Turns the content of a file into systems of bodies: selects species and divides the bodies as the
// file or the user specifies.
#include <algorithm>
#include <limits>
#include <set>

#include "io/formats/formats.h"
#include "nbody/error.h"
#include "support/text.h"

namespace nbody::formats {
namespace {

template <typename T>
void keep(std::vector<T>& values, const std::vector<bool>& kept) {
  if (values.empty()) return;
  std::size_t end = 0;
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (kept[i]) values[end++] = std::move(values[i]);
  values.resize(end);
}

void require_species(const std::string& file, const std::vector<Species>& there,
                     const std::vector<Species>& wanted) {
  if (there.empty())
    throw UsageError(file,
                     " does not say the species of its bodies; --species needs a file that does "
                     "(Tipsy, Gadget, or one converted from them), or a scenario of galaxies "
                     "with halos");
  const std::set<Species> has(there.begin(), there.end());
  for (const Species species : wanted)
    if (!has.contains(species))
      throw UsageError(file, " has no body of the species ", to_string(species), "; it has ",
                       listed(has, [](Species one) { return to_string(one); }));
}

void keep_species(const std::string& file, Contents& contents, const std::vector<Species>& wanted) {
  require_species(file, contents.species, wanted);
  std::vector<bool> kept(contents.bodies.size());
  for (std::size_t i = 0; i < kept.size(); ++i)
    kept[i] = std::find(wanted.begin(), wanted.end(), contents.species[i]) != wanted.end();

  if (contents.systems) {
    const std::size_t systems = static_cast<std::size_t>(*contents.systems);
    const auto size = static_cast<std::ptrdiff_t>(kept.size() / systems);
    const auto count = [&](std::size_t s) {
      const auto begin = kept.begin() + static_cast<std::ptrdiff_t>(s) * size;
      return std::count(begin, begin + size, true);
    };
    for (std::size_t s = 1; s < systems; ++s)
      if (count(s) != count(0))
        throw UsageError(file,
                         ": its systems have different numbers of bodies of the species "
                         "that --species keeps; all systems must have the same size");
  }
  keep(contents.bodies, kept);
  keep(contents.exact, kept);
  keep(contents.names, kept);
  keep(contents.species, kept);
}

// Returns the names of the bodies of one system. Returns none if the systems have different names,
// because a Snapshot stores only one set of names.
std::vector<std::string> names_of_one_system(std::vector<std::string> names, std::size_t bodies) {
  for (std::size_t i = bodies; i < names.size(); ++i)
    if (names[i] != names[i % bodies]) return {};
  names.resize(std::min(names.size(), bodies));
  return names;
}

}  // namespace

Division divide(const std::string& file, std::uint64_t total, std::optional<int> systems_in_file,
                const ReadOptions& options) {
  const std::string holds = file + " holds " + std::to_string(total) + " bodies";
  if (total == 0) throw UsageError(file, " holds no bodies");
  if (total > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
    throw UsageError(holds, "; at most 2147483647 are possible");
  if ((options.systems && *options.systems < 1) || (options.bodies && *options.bodies < 1))
    throw UsageError("the numbers of systems and of bodies must be at least 1");

  if (systems_in_file) {
    if (total % static_cast<std::uint64_t>(*systems_in_file) != 0)
      throw UsageError(holds, ", which cannot be divided into its ", *systems_in_file,
                       " systems of equal size");
    const Division there{*systems_in_file, static_cast<int>(total) / *systems_in_file};
    const Division asked{options.systems.value_or(there.systems),
                         options.bodies.value_or(there.bodies)};
    if (asked != there)
      throw UsageError(file, " holds ", there.systems, " systems of ", there.bodies,
                       " bodies, not ", asked.systems, " of ", asked.bodies);
    return there;
  }

  const auto total_int = static_cast<int>(total);
  if (options.systems && options.bodies) {
    // Multiplies in 64 bits, because the product of two options may not fit an int.
    if (static_cast<long long>(*options.systems) * *options.bodies != total_int)
      throw UsageError(holds, ", not ", *options.systems, " systems of ", *options.bodies);
    return {*options.systems, *options.bodies};
  }
  if (options.systems) {
    if (total_int % *options.systems != 0)
      throw UsageError(holds, ", which cannot be divided into ", *options.systems,
                       " systems of equal size");
    return {*options.systems, total_int / *options.systems};
  }
  const int bodies = options.bodies.value_or(total_int);
  if (total_int % bodies != 0)
    throw UsageError(holds, ", which cannot be divided into systems of ", bodies);
  return {total_int / bodies, bodies};
}

Snapshot assemble(const std::string& file, Contents contents, const ReadOptions& options) {
  // First checks the division of all bodies, without selecting species, so that a message about
  // wrong counts does not blame the choice of species.
  divide(file, contents.bodies.size(), contents.systems, {});
  if (!options.species.empty()) keep_species(file, contents, options.species);
  const Division division = divide(file, contents.bodies.size(), contents.systems, options);
  Snapshot snapshot = std::move(contents.snapshot);
  snapshot.systems.count = division.systems;
  snapshot.systems.bodies_per_system = division.bodies;
  snapshot.systems.bodies = std::move(contents.bodies);
  snapshot.exact = std::move(contents.exact);
  snapshot.names =
      names_of_one_system(std::move(contents.names), static_cast<std::size_t>(division.bodies));
  snapshot.species = std::move(contents.species);
  return snapshot;
}

}  // namespace nbody::formats

namespace nbody {

Snapshot only_species(Snapshot snapshot, const std::string& name,
                      const std::vector<Species>& species) {
  formats::Contents contents{.snapshot = {},
                             .bodies = std::move(snapshot.systems.bodies),
                             .exact = std::move(snapshot.exact),
                             .names = {},
                             .species = std::move(snapshot.species),
                             .systems = snapshot.systems.count};
  for (int s = 0; s < snapshot.systems.count; ++s)
    contents.names.insert(contents.names.end(), snapshot.names.begin(), snapshot.names.end());
  contents.snapshot = std::move(snapshot);
  return formats::assemble(name, std::move(contents), {.species = species});
}

}  // namespace nbody
