// The diagnostics of a run as CSV: one row for each system at each time, appended while it runs.
//
//   step, time, system, kinetic, potential, energy, energy_error, momentum_{x,y,z},
//   angular_momentum_{x,y,z}, virial_ratio, centre_{x,y,z}, r10, r25, r50, r75, r90,
//   potential_error
//
// All of one state: under leapfrog positions and velocities are at the same time. energy_error is
// (E - E0) / |E0| with the E0 of the system's first row, or E - E0 where that is zero. The
// potential is summed over all pairs where that is affordable (physics/potential_energy.h);
// otherwise potential_error is its standard error, and not 0.
//
// A run that is killed leaves whole rows; one that is resumed drops those later than its checkpoint
// and goes on, so that the file ends with the bytes of an uninterrupted run.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "io/snapshot_file.h"

namespace nbody {

class DiagnosticsFile {
 public:
  // Starts the file anew, or, given the step of a checkpoint, goes on with what the file has up to
  // there. Throws UsageError if it is not such a file of as many systems.
  DiagnosticsFile(const std::filesystem::path& file, int systems,
                  std::optional<long long> resumed_step);

  bool has_rows() const { return !first_energies_.empty(); }
  // Throws runtime_error when the disk is full.
  void append(const Snapshot& snapshot);

 private:
  std::filesystem::path file_;
  std::vector<double> first_energies_;  // one a system, from the first rows
};

// Throws UsageError if a run resumed at this step could not go on with the file: asked before it
// starts.
void require_continuable(const std::filesystem::path& file, int systems, long long resumed_step);

}  // namespace nbody
