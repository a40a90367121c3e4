// The program of a course assessment: positions and velocities, no masses, ten time steps. main.cpp
// is its command line; a test checks it.
#pragma once

#include <vector>

#include "nbody/stopwatch.h"
#include "physics/validation.h"
#include "support/platform.h"

namespace course {

// 24 bytes, as in its files. Every mass is 1.
struct Body {
  float x, y, z, vx, vy, vz;
};

constexpr float kTimeStep = 0.01f;
constexpr float kSofteningSquared = 1e-9f;  // added to the squared distance: a length of 3.2e-5
constexpr int kSteps = 10;

// Advances the bodies in place; returns the seconds of the time steps, without transfers.
double simulate(std::vector<Body>& bodies, int steps);

// The relative RMS error, against float64, of one step's accelerations of up to 256 bodies.
nbody::Gate check(const std::vector<Body>& start);

nbody::Platform platform();

}  // namespace course
