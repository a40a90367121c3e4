// Checks the results of a rung: forces against float64, the map against a CPU histogram.
#pragma once

#include "activity_map.h"
#include "physics/validation.h"

namespace activity {

constexpr double kSoftening = 0.05;

// Bodies at rest, uniform in the square that the map shows: a system that starts to collapse.
std::vector<Body2d> uniform_bodies(int n);
Problem problem_of(int cells, int steps);

// acceleration_rms  of up to 256 bodies: one kick of length 1 from rest against float64, relative
//                   (0 for a rung without forces)
// wrong_cells       cells of the map that differ, in any bit, from the histogram of the bodies
std::vector<nbody::Gate> check(const Rung& rung, int block, const Problem& problem,
                               const std::vector<Body2d>& start, const Outcome& outcome);

}  // namespace activity
