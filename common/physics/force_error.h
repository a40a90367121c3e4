// How the errors of a step's forces are distributed: |a - a_ref| / |a_ref| of single bodies, by
// their root mean square, median, 99th percentile and 99.9th, as Dehnen 2014 (Computational
// Astrophysics and Cosmology 1, 1, figure 3) shows those of direct sums and of tree codes.
//
// The gates of validation.h compare with what cancels in a force, so that they can be strict; here
// a body in the centre, where the acceleration is small, counts with the error that its orbit sees.
#pragma once

#include <optional>

#include "physics/validation.h"

namespace nbody {

struct ForceError {
  int bodies = 0;  // that were compared
  double rms = 0, median = 0, p99 = 0, p999 = 0, max = 0;
};

// Of `count` bodies, evenly spaced over those of all systems: the step's accelerations at the state
// `start` against sums in a wider float.
template <class Real>
ForceError force_error(const BasicSystems<Real>& start, double softening_squared, int count,
                       const Advance<Real>& advance);

// `count` numbers below n, the first and the last among them.
std::vector<int> evenly_spaced(int n, int count);

// What the forces of a step may err by that takes far bodies together (nbody/step.h).
//
// Relative to what the forces on a body would add up to if nothing cancelled: the root mean square
// over the bodies of a system, and the 99th percentile. Both are 0 where theta is 0.
struct ErrorLimit {
  double rms = 0, p99 = 0;
};
ErrorLimit error_limit(const Approximation& approximation);

// The same with an opening angle whose limit tells right from wrong; nothing where this one's does.
std::optional<Approximation> finer(const Approximation& approximation);

}  // namespace nbody
