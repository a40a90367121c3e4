// The program of a course assessment: positions and velocities, no masses, ten time steps. main.cpp
// implements its command line, and a test checks its results.
#pragma once

#include <vector>

#include "nbody/stopwatch.h"
#include "physics/validation.h"
#include "support/platform.h"

namespace course {

// A body has 24 bytes, as in the program's files. Every mass is 1.
struct Body {
  float x, y, z, vx, vy, vz;
};

constexpr float kTimeStep = 0.01f;
constexpr float kSofteningSquared = 1e-9f;  // added to the squared distance: 3.2e-5 squared
constexpr int kSteps = 10;

// Advances the bodies in place. Returns the seconds that the time steps take, without transfers.
double simulate(std::vector<Body>& bodies, int steps);

// Returns the relative RMS error of the accelerations of up to 256 bodies, against float64.
nbody::Check check(const std::vector<Body>& start);

nbody::Platform platform();

}  // namespace course
