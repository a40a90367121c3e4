#include "nbody/initial_conditions.h"

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "nbody/error.h"
#include "scenarios.h"

namespace nbody {
namespace {

using namespace makers;

constexpr double kDay = 0.01720209895;  // in years / 2 pi: Gauss's constant

// Small enough to change nothing that float32 can show, large enough for its inverse cube.
constexpr double kBarelySoftened = 1e-6;

constexpr std::array<Scenario, 6> kScenarios{{
    {.name = "plummer",
     .description = "a Plummer sphere in virial equilibrium (Aarseth, Henon and Wielen 1974)",
     .systems = 1,
     .bodies = 1024,
     .fixed_bodies = false,
     .dt = 0.01,
     .softening = 0.05,
     .steps = 20},
    {.name = "uniform",
     .description = "a random cube of side 2, mass 1 in all, no equilibrium (as in mini-nbody)",
     .systems = 1,
     .bodies = 1024,
     .fixed_bodies = false,
     .dt = 0.01,
     .softening = 0.05,
     .steps = 20},
    {.name = "galaxies",
     .description = "independent Plummer spheres, each from random numbers of its own",
     .systems = 4,
     .bodies = 1024,
     .fixed_bodies = false,
     .dt = 0.01,
     .softening = 0.05,
     .steps = 20},
    {.name = "two-body",
     .description = "a Kepler ellipse: masses 1 and 0.5, semi-major axis 1, eccentricity 0.5",
     .systems = 1,
     .bodies = kTwoBodyBodies,
     .fixed_bodies = true,
     .dt = kTwoBodyPeriod / 2000,
     .softening = kBarelySoftened,
     .steps = 2000},
    {.name = "figure-eight",
     .description = "three bodies on one curve, one period (Chenciner and Montgomery 2000)",
     .systems = 1,
     .bodies = kFigureEightBodies,
     .fixed_bodies = true,
     .dt = kFigureEightPeriod / 2000,
     .softening = kBarelySoftened,
     .steps = 2000},
    // A Julian year of 365.25 days, after which the ephemeris can be asked again.
    {.name = "solar-system",
     .description = "Sun, planets, Pluto and Moon at J2000.0, one year (JPL DE405)",
     .systems = 1,
     .bodies = kSolarSystemBodies,
     .fixed_bodies = true,
     .dt = kDay / 8,
     .softening = kBarelySoftened,
     .steps = 2922},
}};

void check_size(const Scenario& scenario, const ScenarioSize& size) {
  const std::string name(scenario.name);
  if (size.systems < 1 || size.bodies < 1)
    throw UsageError(name + ": the numbers of systems and of bodies must be at least 1");
  if (scenario.fixed_bodies && size.bodies != scenario.bodies)
    throw UsageError(name + " has " + std::to_string(scenario.bodies) + " bodies, not " +
                     std::to_string(size.bodies));
  if (static_cast<long long>(size.systems) * size.bodies > std::numeric_limits<int>::max())
    throw UsageError(name + ": " + std::to_string(size.systems) + " systems of " +
                     std::to_string(size.bodies) +
                     " bodies; at most 2147483647 bodies are possible");
  if (!std::isfinite(size.softening) || size.softening < 0)
    throw UsageError(name + ": the softening must be a finite number, 0 or more");
}

void make_system(std::string_view name, std::span<Body> bodies, Random random, double softening) {
  if (name == "plummer" || name == "galaxies") return plummer(bodies, random, softening);
  if (name == "uniform") return uniform(bodies, random);
  if (name == "two-body") return two_body(bodies);
  if (name == "figure-eight") return figure_eight(bodies);
  return solar_system(bodies);
}

const char* units_of(std::string_view name) {
  if (name == "plummer" || name == "galaxies") return "Henon units";
  if (name == "solar-system") return "AU, Msun, yr/2pi";
  return "G = 1";
}

}  // namespace

std::span<const Scenario> scenarios() { return kScenarios; }

const Scenario& find_scenario(std::string_view name) {
  std::string names;
  for (const Scenario& scenario : kScenarios) {
    if (scenario.name == name) return scenario;
    names += (names.empty() ? "" : ", ") + std::string(scenario.name);
  }
  throw UsageError("unknown scenario \"" + std::string(name) + "\"; known are " + names);
}

Snapshot make_scenario(const Scenario& scenario, const ScenarioSize& size) {
  check_size(scenario, size);
  Snapshot snapshot;
  snapshot.systems = Systems(size.systems, size.bodies);
  // Every system has its own generator, so the number of threads changes no bit.
#pragma omp parallel for schedule(dynamic)
  for (int s = 0; s < size.systems; ++s)
    make_system(scenario.name, snapshot.systems.system(s), Random(size.seed, s), size.softening);
  snapshot.softening = size.softening;
  snapshot.dt = scenario.dt;
  snapshot.scenario = scenario.name;
  snapshot.units = units_of(scenario.name);
  if (scenario.name == "solar-system")
    for (const NamedBody& body : kSolarSystem) snapshot.names.emplace_back(body.name);
  return snapshot;
}

}  // namespace nbody
