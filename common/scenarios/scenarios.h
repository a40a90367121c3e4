// The generators behind make_scenario: each fills one system, in float64. Private to the library.
//
// The bits of the bodies are the same on every platform: generators use Random and portable_math.h,
// add numbers in a fixed order, and call no function of <cmath> except sqrt, whose result IEEE 754
// requires to be correctly rounded.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "nbody/bodies.h"
#include "scenarios/initial_conditions.h"
#include "scenarios/random.h"

namespace nbody::generators {

// The system that a generator fills, and its parameters.
struct SystemSpec {
  std::span<BodyF64> bodies;  // zeros
  Random& random;
  double softening;
  const Scenario& scenario;
  const ScenarioSize& size;

  // Returns the requested value, or the scenario's default.
  double parameter(std::string_view name) const;
};
using Generator = void (*)(const SystemSpec&);

void plummer(const SystemSpec& spec);
void star_cluster(const SystemSpec& spec);
void cold_sphere(const SystemSpec& spec);
void uniform(const SystemSpec& spec);

void kuzmin(const SystemSpec& spec);
void disk_halo(const SystemSpec& spec);
void collision(const SystemSpec& spec);

void two_body(const SystemSpec& spec);
void figure_eight(const SystemSpec& spec);
void solar_system(const SystemSpec& spec);
void sun_earth_moon(const SystemSpec& spec);
void test_particles(const SystemSpec& spec);

struct Entry {
  Scenario scenario;
  Generator generate;
  const char* units;
  // Number of galaxies, all of equal size. In each galaxy, the bodies of the disk come first, then
  // the bodies of the dark halo.
  int galaxies = 0;
};
std::span<const Entry> entries();

struct NamedBody {
  std::string_view name;
  BodyF64 body;
};
inline constexpr int kSolarSystemBodies = 11;
extern const std::array<NamedBody, kSolarSystemBodies> kSolarSystem;
inline constexpr std::array<std::size_t, 3> kSunEarthMoon{0, 3, 4};  // indices in kSolarSystem

// Returns the number of disk bodies in a galaxy of n bodies; the other bodies form its halo.
inline std::size_t disk_bodies(std::size_t n) { return n / 3; }

}  // namespace nbody::generators
