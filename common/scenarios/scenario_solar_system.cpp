// The Sun, the planets, Pluto and the Moon on 1 January 2000, 12:00 TDB (JD 2451545.0), from JPL's
// ephemeris DE405: barycentric, ecliptic and equinox J2000, in astronomical units, solar masses and
// years / 2 pi (the Gaussian constant k = 0.01720209895 per day), in which G = 1.
//
// A test checks that the table equals data/solar_system_j2000.csv. The table is compiled in, so
// that programs need no data folder.
#include <algorithm>
#include <cmath>

#include "scenarios/scenario_bodies.h"
#include "scenarios/scenarios.h"

namespace nbody::generators {

// clang-format off
constexpr std::array<NamedBody, kSolarSystemBodies> kSolarSystem{{
    {"Sun", {-0.007136458940, -0.002795724300, 0.000206135430,
     0.000312663022, -0.000430581985, -0.000005483825, 1.000000000000e+00}},
    {"Mercury", {-0.137230061955, -0.450083343379, -0.024392174764,
     1.242393394814, -0.375267949510, -0.144631090100, 1.660136795272e-07}},
    {"Venus", {-0.725438754841, -0.035450034384, 0.041220322927,
     0.046709185280, -1.180241183160, -0.018808502643, 2.447838339665e-06}},
    {"Earth", {-0.184271561909, 0.964445961807, 0.000202043009,
     -1.000008583067, -0.184058301892, 0.000000623745, 3.003489596325e-06}},
    {"Moon", {-0.186220843588, 0.962607835811, 0.000444501007,
     -0.978402471538, -0.208600573444, -0.000385697576, 3.694303700153e-08}},
    {"Mars", {1.383579462892, -0.016212038354, -0.034261529796,
     0.039348566508, 0.882441219803, 0.017530263038, 3.227151445054e-07}},
    {"Jupiter", {3.994040422230, 2.935780609572, -0.101579133188,
     -0.265254579371, 0.374128698924, 0.004388147028, 9.547919384243e-04}},
    {"Saturn", {6.399274880014, 6.567194209308, -0.368868499591,
     -0.249212131324, 0.225722974098, 0.005979132777, 2.858859806661e-04}},
    {"Uranus", {14.424723139268, -13.737108115350, -0.237930970472,
     0.155997432945, 0.154939826034, -0.001445539410, 4.366244043352e-05}},
    {"Neptune", {16.804919524159, -24.994565900359, 0.127435283630,
     0.150252249050, 0.102864887612, -0.005580902041, 5.151389020466e-05}},
    {"Pluto", {-9.882479924994, -27.961575253429, 5.850651280875,
     0.176381369058, -0.089825350480, -0.041407682780, 7.396449704142e-09}},
}};
// clang-format on

void solar_system(const SystemSpec& spec) {
  for (std::size_t i = 0; i < kSolarSystem.size(); ++i) spec.bodies[i] = kSolarSystem[i].body;
}

// Fills a system with Sun, Earth and Moon, in the frame of their common centre of mass.
void sun_earth_moon(const SystemSpec& spec) {
  for (std::size_t i = 0; i < kSunEarthMoon.size(); ++i)
    spec.bodies[i] = kSolarSystem[kSunEarthMoon[i]].body;
  recentre(spec.bodies);
}

// Fills a system with the Solar System and a belt of massless bodies around the Sun, between two
// and four au. Their orbits are nearly circular: each velocity component is perturbed by 3 % rms.
void test_particles(const SystemSpec& spec) {
  const std::size_t massive = std::min(spec.bodies.size(), kSolarSystem.size());
  for (std::size_t i = 0; i < massive; ++i) spec.bodies[i] = kSolarSystem[i].body;
  const BodyF64& sun = kSolarSystem[0].body;
  for (BodyF64& body : spec.bodies.subspan(massive)) {
    const double radius = spec.random.uniform(2, 4), speed = std::sqrt(sun.mass / radius);
    const auto [cos, sin] = portable::direction(spec.random.uniform());
    const Vector3 around = speed * Vector3{-sin, cos, 0};
    body = body_of(position(sun) + radius * Vector3{cos, sin, 0},
                   velocity(sun) + around + 0.03 * speed * normal_vector(spec.random), 0);
  }
}

}  // namespace nbody::generators
