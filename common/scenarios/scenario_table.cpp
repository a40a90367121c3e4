// The table of all scenarios, with their names, defaults, parameters and generators.
#include <array>

#include "scenarios/scenarios.h"

namespace nbody::generators {
namespace {

constexpr double kDay = 0.01720209895;                // Gauss's constant: a day in years / 2 pi
constexpr double kTwoBodyPeriod = 5.130199320647456;  // 2 pi / sqrt(1.5)
constexpr double kFigureEightPeriod = 6.32591398;
constexpr double kFreeFallTime = 1.1107207345395915;  // pi / sqrt(8)

// The disk's scale length and mass in physical units, for files that need such units. The values
// are close to the Milky Way's. With them, the units of time and velocity are 11 Myr and
// 268 km/s.
constexpr const char* kGalaxyUnits = "3 kpc, 5e10 Msun";

// This softening is too small to affect a result in float32, but so large that the cube of its
// inverse does not overflow.
constexpr double kBarelySoftened = 1e-6;

constexpr std::array<Parameter, 1> kColdSphere{
    {{"virial-ratio", "2T/|W| at the start: 0 at rest, 1 in balance", 0, 0, 2}}};

constexpr Parameter kHaloMass{"halo-mass", "mass of the halo's profile, integrated to infinity", 6,
                              0.01, 1000};
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
     {"inclination-1", "tilt of the first disk to the orbit, in degrees", 0, 0, 180},
     {"inclination-2", "tilt of the second disk to the orbit, in degrees", 60, 0, 180}}};

constexpr std::array<Parameter, 3> kTwoBody{
    {{"eccentricity", "eccentricity of the ellipse", 0.5, 0, 0.99},
     {"semi-major-axis", "semi-major axis of the relative orbit", 1, 1e-3, 1e6},
     {"mass-ratio", "mass of the second body; the first has 1", 0.5, 1e-6, 1e6}}};

struct Defaults {
  int systems, bodies;
  double dt, softening;
  int steps;
  bool fixed_bodies = false;
};
constexpr bool kFixed = true;

constexpr Entry entry(std::string_view name, std::string_view description, Generator generate,
                      const char* units, const Defaults& defaults,
                      std::span<const Parameter> parameters = {}, int galaxies = 0) {
  const auto& [systems, bodies, dt, softening, steps, fixed] = defaults;
  return {{name, description, systems, bodies, fixed, dt, softening, steps, parameters},
          generate,
          units,
          galaxies};
}

constexpr std::array kEntries{
    entry("plummer", "a Plummer sphere in virial equilibrium (Aarseth, Henon and Wielen 1974)",
          plummer, "henon", {1, 1024, 0.01, 0.05, 20}),
    entry("galaxies", "independent Plummer spheres, each drawn separately", plummer, "henon",
          {4, 1024, 0.01, 0.05, 20}),
    entry("star-cluster",
          "a Plummer sphere of stars with Salpeter's mass distribution, total mass 1", star_cluster,
          "henon", {1, 4096, 0.01, 0.05, 100}),
    entry("uniform", "a random cube of side 2, total mass 1, not in equilibrium (as in mini-nbody)",
          uniform, "G = 1", {1, 1024, 0.01, 0.05, 20}),
    entry("cold-sphere", "a uniform sphere at rest; it collapses in 1.11 units of time",
          cold_sphere, "M = R = G = 1", {1, 1024, kFreeFallTime / 200, 0.05, 500}, kColdSphere),
    entry("kuzmin", "Kuzmin's disk on circular orbits: cold, thin and unstable", kuzmin,
          "M = a = G = 1", {1, 1024, 0.02, 0.05, 500}),
    // 450 steps are one rotation at two scale lengths.
    entry("disk-halo", "an exponential disk in a live halo (Hernquist 1993)", disk_halo,
          kGalaxyUnits, {1, 3072, 0.03, 0.05, 450}, kDiskHalo, 1),
    entry("spiral", "disk-halo with a cold disk, which breaks up into spiral arms", disk_halo,
          kGalaxyUnits, {1, 3072, 0.03, 0.05, 450}, kSpiral, 1),
    entry("collision", "two disk-halo galaxies on a parabolic orbit", collision, kGalaxyUnits,
          {1, 6144, 0.03, 0.05, 1500}, kCollision, 2),
    entry("two-body", "a Kepler ellipse: masses 1 and 0.5, semi-major axis 1, eccentricity 0.5",
          two_body, "G = 1", {1, 2, kTwoBodyPeriod / 2000, kBarelySoftened, 2000, kFixed},
          kTwoBody),
    entry("figure-eight", "three bodies on one curve, one period (Chenciner and Montgomery 2000)",
          figure_eight, "G = 1", {1, 3, kFigureEightPeriod / 2000, kBarelySoftened, 2000, kFixed}),
    // Runs for a Julian year of 365.25 days, after which the result can be compared with an
    // ephemeris.
    entry("solar-system", "Sun, planets, Pluto and Moon at J2000.0, one year (JPL DE405)",
          solar_system, "au-msun-yr2pi",
          {1, kSolarSystemBodies, kDay / 8, kBarelySoftened, 2922, kFixed}),
    entry("sun-earth-moon",
          "Sun, Earth and Moon at J2000.0, about their centre of mass (JPL DE405)", sun_earth_moon,
          "au-msun-yr2pi", {1, kSunEarthMoon.size(), kDay / 8, kBarelySoftened, 2922, kFixed}),
    entry("test-particles", "the Solar System and a belt of bodies without mass", test_particles,
          "au-msun-yr2pi", {1, 2048, kDay, kBarelySoftened, 365}),
};

}  // namespace

std::span<const Entry> entries() { return kEntries; }

}  // namespace nbody::generators
