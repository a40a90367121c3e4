// Every scenario: its name, its defaults, its parameters and its generator.
#include <array>

#include "scenarios/scenarios.h"

namespace nbody::generators {
namespace {

constexpr double kDay = 0.01720209895;                // in years / 2 pi: Gauss's constant
constexpr double kTwoBodyPeriod = 5.130199320647456;  // 2 pi / sqrt(1.5)
constexpr double kFigureEightPeriod = 6.32591398;
constexpr double kFreeFallTime = 1.1107207345395915;  // pi / sqrt(8)

// The disk's scale length and mass, about those of the Milky Way, for files that need units with a
// size. Units of 11 Myr and 268 km/s follow.
constexpr const char* kGalaxyUnits = "3 kpc, 5e10 Msun";

// Too small to change what float32 can show, large enough that its inverse cube does not overflow.
constexpr double kBarelySoftened = 1e-6;

constexpr std::array<Parameter, 1> kColdSphere{
    {{"virial-ratio", "2T/|W| at the start: 0 is at rest, 1 in balance", 0, 0, 2}}};

constexpr Parameter kHaloMass{"halo-mass", "of the halo's profile to infinity", 6, 0.01, 1000};
constexpr Parameter kHaloScale{"halo-scale", "scale length of the halo", 3, 0.1, 100};
constexpr Parameter toomre(double value) {
  return {"toomre", "Toomre's Q of the disk at two scale lengths", value, 0, 10};
}
constexpr std::array<Parameter, 3> kDiskHalo{toomre(1.5), kHaloMass, kHaloScale};
constexpr std::array<Parameter, 3> kSpiral{toomre(0), kHaloMass, kHaloScale};
constexpr std::array<Parameter, 7> kCollision{
    {toomre(1.5),
     kHaloMass,
     kHaloScale,
     {"pericentre", "closest approach of the parabola", 2, 0, 10},
     {"separation", "distance at the start", 30, 10, 10000},
     {"inclination-1", "of the first disk to the orbit, in degrees", 0, 0, 180},
     {"inclination-2", "of the second disk to the orbit, in degrees", 60, 0, 180}}};

constexpr std::array<Parameter, 3> kTwoBody{
    {{"eccentricity", "of the ellipse", 0.5, 0, 0.99},
     {"semi-major-axis", "of the relative orbit", 1, 1e-3, 1e6},
     {"mass-ratio", "mass of the second body; the first has 1", 0.5, 1e-6, 1e6}}};

constexpr auto kEntries = std::to_array<Entry>({
    {.scenario = {.name = "plummer",
                  .description =
                      "a Plummer sphere in virial equilibrium (Aarseth, Henon and Wielen 1974)",
                  .systems = 1,
                  .bodies = 1024,
                  .fixed_bodies = false,
                  .dt = 0.01,
                  .softening = 0.05,
                  .steps = 20},
     .generate = plummer,
     .units = "henon"},
    {.scenario = {.name = "galaxies",
                  .description = "independent Plummer spheres, each from random numbers of its own",
                  .systems = 4,
                  .bodies = 1024,
                  .fixed_bodies = false,
                  .dt = 0.01,
                  .softening = 0.05,
                  .steps = 20},
     .generate = plummer,
     .units = "henon"},
    {.scenario = {.name = "star-cluster",
                  .description =
                      "a Plummer sphere of stars of many masses (Salpeter's), mass 1 in all",
                  .systems = 1,
                  .bodies = 4096,
                  .fixed_bodies = false,
                  .dt = 0.01,
                  .softening = 0.05,
                  .steps = 100},
     .generate = star_cluster,
     .units = "henon"},
    {.scenario = {.name = "uniform",
                  .description =
                      "a random cube of side 2, mass 1 in all, no equilibrium (as in mini-nbody)",
                  .systems = 1,
                  .bodies = 1024,
                  .fixed_bodies = false,
                  .dt = 0.01,
                  .softening = 0.05,
                  .steps = 20},
     .generate = uniform,
     .units = "G = 1"},
    {.scenario = {.name = "cold-sphere",
                  .description = "a uniform sphere at rest; it collapses in 1.11 units of time",
                  .systems = 1,
                  .bodies = 1024,
                  .fixed_bodies = false,
                  .dt = kFreeFallTime / 200,
                  .softening = 0.05,
                  .steps = 500,
                  .parameters = kColdSphere},
     .generate = cold_sphere,
     .units = "M = R = G = 1"},
    {.scenario = {.name = "kuzmin",
                  .description = "Kuzmin's disk on circular orbits: cold, thin and unstable",
                  .systems = 1,
                  .bodies = 1024,
                  .fixed_bodies = false,
                  .dt = 0.02,
                  .softening = 0.05,
                  .steps = 500},
     .generate = kuzmin,
     .units = "M = a = G = 1"},
    // 450 steps are one rotation at two scale lengths.
    {.scenario = {.name = "disk-halo",
                  .description = "an exponential disk in a live halo (Hernquist 1993)",
                  .systems = 1,
                  .bodies = 3072,
                  .fixed_bodies = false,
                  .dt = 0.03,
                  .softening = 0.05,
                  .steps = 450,
                  .parameters = kDiskHalo},
     .generate = disk_halo,
     .units = kGalaxyUnits,
     .galaxies = 1},
    {.scenario = {.name = "spiral",
                  .description = "disk-halo with a cold disk, which breaks up into spiral arms",
                  .systems = 1,
                  .bodies = 3072,
                  .fixed_bodies = false,
                  .dt = 0.03,
                  .softening = 0.05,
                  .steps = 450,
                  .parameters = kSpiral},
     .generate = disk_halo,
     .units = kGalaxyUnits,
     .galaxies = 1},
    {.scenario = {.name = "collision",
                  .description = "two disk-halo galaxies on a parabolic orbit",
                  .systems = 1,
                  .bodies = 6144,
                  .fixed_bodies = false,
                  .dt = 0.03,
                  .softening = 0.05,
                  .steps = 1500,
                  .parameters = kCollision},
     .generate = collision,
     .units = kGalaxyUnits,
     .galaxies = 2},
    {.scenario = {.name = "two-body",
                  .description =
                      "a Kepler ellipse: masses 1 and 0.5, semi-major axis 1, eccentricity 0.5",
                  .systems = 1,
                  .bodies = 2,
                  .fixed_bodies = true,
                  .dt = kTwoBodyPeriod / 2000,
                  .softening = kBarelySoftened,
                  .steps = 2000,
                  .parameters = kTwoBody},
     .generate = two_body,
     .units = "G = 1"},
    {.scenario = {.name = "figure-eight",
                  .description =
                      "three bodies on one curve, one period (Chenciner and Montgomery 2000)",
                  .systems = 1,
                  .bodies = 3,
                  .fixed_bodies = true,
                  .dt = kFigureEightPeriod / 2000,
                  .softening = kBarelySoftened,
                  .steps = 2000},
     .generate = figure_eight,
     .units = "G = 1"},
    // A Julian year of 365.25 days, after which the ephemeris can be asked again.
    {.scenario = {.name = "solar-system",
                  .description = "Sun, planets, Pluto and Moon at J2000.0, one year (JPL DE405)",
                  .systems = 1,
                  .bodies = kSolarSystemBodies,
                  .fixed_bodies = true,
                  .dt = kDay / 8,
                  .softening = kBarelySoftened,
                  .steps = 2922},
     .generate = solar_system,
     .units = "au-msun-yr2pi"},
    {.scenario = {.name = "sun-earth-moon",
                  .description = "these three at J2000.0, about their centre of mass (JPL DE405)",
                  .systems = 1,
                  .bodies = kSunEarthMoon.size(),
                  .fixed_bodies = true,
                  .dt = kDay / 8,
                  .softening = kBarelySoftened,
                  .steps = 2922},
     .generate = sun_earth_moon,
     .units = "au-msun-yr2pi"},
    {.scenario = {.name = "test-particles",
                  .description = "the Solar System and a belt of bodies without mass",
                  .systems = 1,
                  .bodies = 2048,
                  .fixed_bodies = false,
                  .dt = kDay,
                  .softening = kBarelySoftened,
                  .steps = 365},
     .generate = test_particles,
     .units = "au-msun-yr2pi"},
});

}  // namespace

std::span<const Entry> entries() { return kEntries; }

}  // namespace nbody::generators
