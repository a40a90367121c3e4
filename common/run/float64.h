// --precision double: the same two loops in float64, as the reference has them, on the CPU. The
// state is Snapshot::exact, of which Snapshot::systems are the rounded values.
#pragma once

#include "io/snapshot_file.h"
#include "nbody/step.h"
#include "physics/diagnostics.h"
#include "physics/validation.h"

namespace nbody {

// Takes time steps with the snapshot's dt and softening, as simulate() of a step does in float32:
// time, step and staggering stay.
Timing simulate_float64(Snapshot& state, int steps);

// x += v t
void drift_float64(Snapshot& state, double t);

Diagnostics diagnose_float64(const Snapshot& snapshot);

// The gates of nbody/validation.h as far as they make sense without a better reference, on limits
// that are 2^29 times as strict: accelerations against sums in long double (80 bits on x86; where
// it has 64, of another order at least), for some bodies of every system.
// Both states have positions and velocities at the same time.
Validation validate_float64(const Snapshot& initial, const Snapshot& final);

}  // namespace nbody
