// What a run is going to do, after the command line, the input and the defaults have been put
// together and checked. Nothing has been computed or written yet.
#pragma once

#include "io/snapshot_file.h"
#include "nbody/step.h"
#include "run/options.h"

namespace nbody {

struct Job {
  Snapshot start;     // staggered when it resumes a leapfrog run
  int last_step = 0;  // the run goes from start.step to this
  Run run{};          // dt and softening as float32, as the kernels see them; steps still to take

  // Leapfrog's half step, 0 for Euler.
  float half_drift() const { return start.integrator == Integrator::leapfrog ? run.dt / 2 : 0.0f; }
  // The start with positions and velocities at the same time.
  Snapshot synchronised_start() const;
};

// Leapfrog's half drift, forwards (sign 1) or back (-1), in the precision of the state.
void take_half_drift(Snapshot& state, int sign);

// Throws UsageError for anything the run could not do, an output it could not write included.
Job prepare_job(const Options& options);

}  // namespace nbody
