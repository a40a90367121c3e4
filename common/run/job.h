// What a run is going to do, put together from the command line, the input and the defaults, and
// checked. Nothing has been computed or written yet.
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
  Snapshot start;                   // staggered when it resumes a leapfrog run
  std::filesystem::path continues;  // the checkpoint that it starts from; empty: none
  int last_step = 0;                // the run goes from start.step to this
  Run run{};  // dt and softening as float32, as the kernels see them; steps still to take
  Platform platform = {};         // whose pages are locked while a simulation lasts, if it has that
  SimulateF64 float64 = nullptr;  // what takes them with --precision double
  // What neither the command line nor the file says: "dt", "softening".
  std::vector<std::string> defaults;
  // In what the run that is resumed differs from the one that was interrupted.
  std::vector<std::string> notes;
  std::shared_ptr<const Outputs> outputs;  // locked until the run has ended

  // A checkpoint of the last step leaves nothing to compute.
  bool is_finished() const { return !continues.empty() && run.steps == 0; }
};

// The state of --precision double: Snapshot::exact with its sizes, and a change of it that the
// rounded bodies follow.
bool is_float64(const Snapshot& state);
SystemsF64 float64_systems(const Snapshot& state);
void change_float64(Snapshot& state, const std::function<void(SystemsF64&)>& change);

// The state's dt and softening, as the kernels see them.
void take_forces(const Snapshot& state, Run& run);
float heaviest_mass(const Systems& systems);
// Why bodies of up to this mass cannot have a softening; empty: they can.
std::string softening_refusal(double softening, float heaviest, bool float64);

// Leapfrog's half drift, forwards (sign 1) or back (-1), in the precision of the state.
void take_half_drift(Snapshot& state, int sign);
// The state with positions and velocities at the same time: a snapshot, and no checkpoint.
Snapshot synchronised(Snapshot state);
// The same in place, for as long as `use` runs.
void show_synchronised(Snapshot& state, const std::function<void(const Snapshot&)>& use);

// snapshot_00000042.bin in the folder.
std::filesystem::path snapshot_file(const std::filesystem::path& folder, long long step);

// Throws UsageError for anything the run could not do, an output it could not write included.
Job prepare_job(const Options& options);

}  // namespace nbody
