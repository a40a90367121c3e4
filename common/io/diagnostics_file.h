// The diagnostics of a run as CSV: one row per system and time, appended during the run.
//
//   step, time, system, kinetic, potential, energy, energy_error, momentum_{x,y,z},
//   angular_momentum_{x,y,z}, virial_ratio, centre_{x,y,z}, r10, r25, r50, r75, r90,
//   potential_error
//
// Positions and velocities of a row belong to the same time, also under leapfrog.
// energy_error is (E - E0) / |E0|, or E - E0 if E0 is zero; E0 is the energy in the system's first
// row. The potential is summed over all pairs if that is affordable (physics/potential_energy.h).
// Otherwise it is estimated, and potential_error is its standard error instead of 0.
//
// If a run is killed, the last row may be incomplete. A resumed run drops that row and all rows
// later than the checkpoint, so in the end the file is identical to that of an uninterrupted run.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "io/snapshot_file.h"
#include "physics/potential_energy.h"

namespace nbody {

class DiagnosticsFile {
 public:
  // Starts a new file, or continues an existing one after the rows of `last_kept_step`. Throws
  // UsageError if the file is not a diagnostics file for this number of systems. `budget` is the
  // largest number of interactions to spend on a system's potential (physics/potential_energy.h).
  DiagnosticsFile(const std::filesystem::path& file, int systems,
                  std::optional<long long> last_kept_step, double budget = kAllPairsBudget);

  bool has_rows() const { return !first_energies_.empty(); }
  // Throws runtime_error if the disk is full.
  void append(const Snapshot& snapshot);

 private:
  std::filesystem::path file_;
  double budget_;
  std::vector<double> first_energies_;  // one per system, from the first rows
};

// Throws UsageError if a run that resumes at this step could not continue the file. Call this
// function before the run starts.
void require_continuable(const std::filesystem::path& file, int systems, long long last_kept_step);

}  // namespace nbody
