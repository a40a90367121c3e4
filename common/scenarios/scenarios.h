// The makers behind make_scenario: each fills one system, in float64. Private to the library.
//
// What makes the bits the same everywhere: Random, portable_math.h, sums in a fixed order, and no
// other function of <cmath> than sqrt, which IEEE 754 rounds exactly.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "nbody/bodies.h"
#include "scenarios/initial_conditions.h"
#include "scenarios/random.h"

namespace nbody::makers {

// One system to be made.
struct Making {
  std::span<BodyF64> bodies;  // zeros
  Random& random;
  double softening;
  const Scenario& scenario;
  const ScenarioSize& size;

  // As asked for, or as the scenario has it.
  double parameter(std::string_view name) const;
};
using Maker = void (*)(const Making&);

void plummer(const Making& making);
void cold_sphere(const Making& making);
void uniform(const Making& making);

void kuzmin(const Making& making);
void disk_halo(const Making& making);
void collision(const Making& making);

void two_body(const Making& making);
void figure_eight(const Making& making);
void solar_system(const Making& making);
void sun_earth_moon(const Making& making);

struct Entry {
  Scenario scenario;
  Maker make;
  const char* units;
  int galaxies = 0;  // halves or all of the bodies: first a disk's, then those of its dark halo
};
std::span<const Entry> entries();

struct NamedBody {
  std::string_view name;
  BodyF64 body;
};
inline constexpr int kSolarSystemBodies = 11;
extern const std::array<NamedBody, kSolarSystemBodies> kSolarSystem;
inline constexpr std::array<std::size_t, 3> kSunEarthMoon{0, 3, 4};  // of kSolarSystem

// How many bodies of a galaxy of n are its disk; the others are its halo.
inline std::size_t disk_bodies(std::size_t n) { return n / 3; }

}  // namespace nbody::makers
