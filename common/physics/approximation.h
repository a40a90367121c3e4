// What the forces of a step may err by that takes far bodies together (nbody/step.h).
#pragma once

#include <optional>

#include "nbody/step.h"

namespace nbody {

// Relative to what the forces on a body would add up to if nothing cancelled: the root mean square
// over the bodies of a system, and the 99th percentile. Both are 0 where theta is 0.
struct ErrorLimit {
  double rms = 0, p99 = 0;
};
ErrorLimit error_limit(const Approximation& approximation);

// The same with an opening angle whose limit tells right from wrong; nothing where this one's does.
std::optional<Approximation> finer(const Approximation& approximation);

}  // namespace nbody
