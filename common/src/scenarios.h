// The makers behind make_scenario, each fills one system. Private to the library.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "nbody/bodies.h"
#include "random.h"

namespace nbody::makers {

// A Plummer sphere in Henon units (G = M = 1, E = -1/4 without softening): see the definition.
void plummer(std::span<Body> bodies, Random& random, double softening);
void uniform(std::span<Body> bodies, Random& random);

struct NamedBody {
  std::string_view name;
  double mass, x, y, z, vx, vy, vz;
};
inline constexpr int kSolarSystemBodies = 11;
extern const std::array<NamedBody, kSolarSystemBodies> kSolarSystem;

inline constexpr int kTwoBodyBodies = 2;
inline constexpr double kTwoBodyPeriod = 5.130199320647456;  // 2 pi / sqrt(1.5)
void two_body(std::span<Body> bodies);

inline constexpr int kFigureEightBodies = 3;
inline constexpr double kFigureEightPeriod = 6.32591398;
void figure_eight(std::span<Body> bodies);

void solar_system(std::span<Body> bodies);

}  // namespace nbody::makers
