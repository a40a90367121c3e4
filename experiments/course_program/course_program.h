// The program of a course assessment: positions and velocities, no masses, ten time steps.
// main.cpp is its command line, the test proves it.
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

// Advances the bodies in place; seconds of the time steps, transfers not included.
double simulate(std::vector<Body>& bodies, int steps);

// Accelerations of up to 256 bodies by one step, against float64: the RMS error, relative.
nbody::Gate check(const std::vector<Body>& start);

nbody::Platform platform();

}  // namespace course
