// The plan of a run, assembled from the command line, the input and the defaults, and checked
// before anything is computed or written.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/snapshot_file.h"
#include "io/write_whole_file.h"
#include "nbody/step.h"
#include "run/options.h"
#include "support/platform.h"

namespace nbody {

struct Job {
  Snapshot start;                   // staggered if the run resumes a leapfrog checkpoint
  std::filesystem::path continues;  // the checkpoint to resume from; empty: none
  int last_step = 0;                // the run continues from start.step to this step
  Run run{};               // dt and softening in float32 for the kernels; steps still to take
  Platform platform = {};  // can lock the bodies' pages during the run, if supported
  SimulateF64 float64 = nullptr;  // advances the bodies with --precision double
  // Names of the values that neither the command line nor the file gives: "dt", "softening".
  std::vector<std::string> defaults;
  // Differences between the resumed run and the interrupted one that --resume-anyway accepted.
  std::vector<std::string> notes;
  std::shared_ptr<const Outputs> outputs;  // locked until the run has ended

  // True if the run resumes from a checkpoint of its last step.
  bool is_finished() const { return !continues.empty() && run.steps == 0; }
};

// With --precision double, Snapshot::exact holds the state, and Snapshot::systems holds the numbers
// of systems and bodies. change_float64 changes Snapshot::exact, and also stores the changed state,
// rounded to float32, in the bodies of `systems`.
bool is_float64(const Snapshot& state);
SystemsF64 float64_systems(const Snapshot& state);
void change_float64(Snapshot& state, const std::function<void(SystemsF64&)>& change);

// Copies the state's dt and the square of its softening to `run`, rounded to float32.
void take_forces(const Snapshot& state, Run& run);
float heaviest_mass(const Systems& systems);
// Returns the reason why bodies of up to this mass cannot have this softening, or "" if they can.
std::string softening_refusal(double softening, float heaviest, bool float64);

// Takes leapfrog's half drift, forward (sign 1) or backward (sign -1), in the state's precision.
void take_half_drift(Snapshot& state, int sign);
// Returns the state with positions and velocities at the same instant. Snapshots store this state;
// checkpoints store the staggered state.
Snapshot synchronised(Snapshot state);
// Synchronises the state in place, calls use() with it, and then restores it.
void show_synchronised(Snapshot& state, const std::function<void(const Snapshot&)>& use);

// Returns the path of a step's snapshot in the directory; for step 42, snapshot_00000042.bin.
std::filesystem::path snapshot_file(const std::filesystem::path& folder, long long step);

// Throws UsageError if the run could not do something that the options request, such as writing an
// output file.
Job prepare_job(const Options& options);

}  // namespace nbody
