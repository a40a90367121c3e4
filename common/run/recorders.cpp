// The recorders, which write outputs while the run is in progress.
#include <limits>
#include <memory>

#include "io/activity_map_file.h"
#include "io/diagnostics_file.h"
#include "run/checkpoint.h"
#include "run/simulation.h"

namespace nbody {
namespace {

Recorder snapshots(const Job& job, const Options& options) {
  return {options.snapshot_every, job.start.step == 0,
          [folder = options.snapshot_folder](const Snapshot& snapshot) {
            write_bodies(snapshot_file(folder, snapshot.step), snapshot);
          }};
}

Recorder diagnostics(const Job& job, const Options& options) {
  const int every =
      options.diagnostics_every > 0 ? options.diagnostics_every : options.snapshot_every;
  // A continued file keeps the rows of the checkpoint's step if that step is a multiple of `every`.
  // Otherwise it drops these rows: they were written only because a shorter run ended at that step.
  std::optional<long long> kept;
  if (!job.continues.empty()) {
    const bool was_last = every > 0 && job.start.step % every != 0;
    kept = was_last ? job.start.step - 1 : job.start.step;
  }
  const double budget =
      options.diagnostics_exact ? std::numeric_limits<double>::infinity() : kAllPairsBudget;
  const auto file =
      std::make_shared<DiagnosticsFile>(options.diagnostics, job.start.systems.count, kept, budget);
  return {every, !file->has_rows(), [file](const Snapshot& snapshot) { file->append(snapshot); }};
}

Recorder activity_map(const Job& job, const Options& options) {
  const auto map = std::make_shared<ActivityMap>(saved_activity_map(options, job));
  Recorder recorder{options.activity_map_every, false,
                    [map](const Snapshot& snapshot) { map->add(snapshot.systems); },
                    [map, name = options.activity_map_name] { write_activity_map(name, *map); }};
  if (options.activity_map_every > 0)
    recorder.save = [map, options](Snapshot& checkpoint) {
      save_activity_map(*map, options, checkpoint);
    };
  return recorder;
}

}  // namespace

std::vector<Recorder> recorders(const Job& job, const Options& options) {
  std::vector<Recorder> all;
  if (options.snapshot_every > 0) all.push_back(snapshots(job, options));
  if (!options.diagnostics.empty()) all.push_back(diagnostics(job, options));
  if (options.activity_map > 0) all.push_back(activity_map(job, options));
  return all;
}

}  // namespace nbody
