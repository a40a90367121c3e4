// Checks the results of one variant (rung): the forces against float64, and the map against a
// histogram made on the CPU.
#pragma once

#include "activity_map.h"
#include "physics/validation.h"

namespace activity {

constexpr double kSoftening = 0.05;

// Bodies at rest, spread uniformly over the square of the map. Such a system begins to collapse.
std::vector<Body2d> uniform_bodies(int n);
Problem problem_of(int cells, int steps);

// acceleration_rms  relative error against float64 of up to 256 accelerations, from one kick of
//                   length 1 from rest (0 for a variant without forces)
// wrong_cells       number of cells of the map that differ in any bit from the bodies' histogram
std::vector<nbody::Check> check(const Rung& rung, int block, const Problem& problem,
                                const std::vector<Body2d>& start, const Outcome& outcome);

}  // namespace activity
