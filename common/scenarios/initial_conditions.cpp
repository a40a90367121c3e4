#include "scenarios/initial_conditions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "io/formats/formats.h"
#include "nbody/error.h"
#include "scenarios/scenarios.h"
#include "support/text.h"

namespace nbody {
namespace {

using namespace generators;

void check_size(const Scenario& scenario, const ScenarioSize& size) {
  const std::string name(scenario.name);
  if (size.systems < 1 || size.bodies < 1)
    throw UsageError(name, ": the numbers of systems and of bodies must be at least 1");
  if (scenario.fixed_bodies && size.bodies != scenario.bodies)
    throw UsageError(name, " has ", scenario.bodies, " bodies, not ", size.bodies);
  if (static_cast<long long>(size.systems) * size.bodies > std::numeric_limits<int>::max())
    throw UsageError(name, ": ", size.systems, " systems of ", size.bodies,
                     " bodies; at most 2147483647 bodies are possible");
  if (!std::isfinite(size.softening) || size.softening < 0)
    throw UsageError(name, ": the softening must be a finite number, 0 or more");
}

void check_parameters(const Scenario& scenario, const ScenarioSize& size) {
  for (const auto& [name, value] : size.parameters) {
    const auto known = std::ranges::find(scenario.parameters, name, &Parameter::name);
    if (known == scenario.parameters.end())
      throw UsageError(scenario.name, " has no parameter \"", name, "\"");
    if (!(value >= known->low && value <= known->high))
      throw UsageError(scenario.name, ": ", name, " is ", shortest(value),
                       "; it must be a number from ", shortest(known->low), " to ",
                       shortest(known->high));
  }
}

const Entry& entry_of(const Scenario& scenario) {
  const auto all = entries();
  return *std::find_if(all.begin(), all.end(),
                       [&](const Entry& e) { return e.scenario.name == scenario.name; });
}

// Returns the species of all bodies of systems that consist of galaxies of equal size.
std::vector<Species> species_of_galaxies(int galaxies, const ScenarioSize& size) {
  const auto n = static_cast<std::size_t>(size.bodies), count = static_cast<std::size_t>(galaxies);
  std::vector<Species> all;
  for (std::size_t g = 0; g < static_cast<std::size_t>(size.systems) * count; ++g) {
    const std::size_t bodies = (g % count + 1) * n / count - g % count * n / count;
    const std::size_t disk = disk_bodies(bodies);
    all.insert(all.end(), disk, Species::disk);
    all.insert(all.end(), bodies - disk, Species::dark);
  }
  return all;
}

}  // namespace

double generators::SystemSpec::parameter(std::string_view name) const {
  if (const auto asked = size.parameters.find(name); asked != size.parameters.end())
    return asked->second;
  return std::ranges::find(scenario.parameters, name, &Parameter::name)->value;
}

std::span<const Scenario> scenarios() {
  static const std::vector<Scenario> all = [] {
    std::vector<Scenario> list;
    for (const Entry& entry : entries()) list.push_back(entry.scenario);
    return list;
  }();
  return all;
}

std::string scenario_names() { return listed(scenarios(), &Scenario::name); }

const Scenario& find_scenario(std::string_view name) {
  for (const Scenario& scenario : scenarios())
    if (scenario.name == name) return scenario;
  throw UsageError("unknown scenario \"", name, "\"; known: ", scenario_names());
}

Snapshot make_scenario(const Scenario& scenario, const ScenarioSize& size) {
  check_size(scenario, size);
  check_parameters(scenario, size);
  const Entry& entry = entry_of(scenario);
  Snapshot snapshot;
  snapshot.systems = Systems(size.systems, size.bodies);
  if (size.float64) snapshot.exact.resize(snapshot.systems.bodies.size());
  const auto n = static_cast<std::size_t>(size.bodies);
  // Every system has its own random generator, so the number of threads has no effect.
#pragma omp parallel for schedule(dynamic)
  for (int s = 0; s < size.systems; ++s) {
    std::vector<BodyF64> bodies(n);
    Random random(size.seed, s);
    entry.generate({bodies, random, size.softening, scenario, size});
    std::transform(bodies.begin(), bodies.end(), snapshot.systems.system(s).begin(), rounded);
    if (size.float64)
      std::copy(bodies.begin(), bodies.end(),
                snapshot.exact.begin() + static_cast<std::ptrdiff_t>(n) * s);
  }
  snapshot.softening = size.softening;
  snapshot.dt = scenario.dt;
  snapshot.scenario = scenario.name;
  snapshot.units = entry.units;
  if (entry.galaxies > 0) snapshot.species = species_of_galaxies(entry.galaxies, size);
  if (scenario.name == "solar-system")
    for (const NamedBody& body : kSolarSystem) snapshot.names.emplace_back(body.name);
  if (scenario.name == "sun-earth-moon")
    for (const std::size_t k : kSunEarthMoon) snapshot.names.emplace_back(kSolarSystem[k].name);
  return snapshot;
}

}  // namespace nbody
