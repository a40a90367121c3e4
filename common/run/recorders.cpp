// What a run writes while it runs.
#include <cstdio>
#include <memory>

#include "io/activity_map_file.h"
#include "io/diagnostics_file.h"
#include "run/simulation.h"

namespace nbody {
namespace {

Recorder snapshots(const Options& options) {
  return {options.snapshot_every, true,
          [folder = options.snapshot_folder](const Snapshot& snapshot) {
            char name[32];
            std::snprintf(name, sizeof name, "snapshot_%08lld.bin", snapshot.step);
            write_bodies(folder / name, snapshot);
          }};
}

Recorder diagnostics(const Job& job, const Options& options) {
  const auto resumed = options.resume.empty() ? std::nullopt : std::optional(job.start.step);
  const auto file =
      std::make_shared<DiagnosticsFile>(options.diagnostics, job.start.systems.count, resumed);
  const int every =
      options.diagnostics_every > 0 ? options.diagnostics_every : options.snapshot_every;
  // A file that is continued has the row of the checkpoint's step, if it was to have one.
  return {every, !file->has_rows(), [file](const Snapshot& snapshot) { file->append(snapshot); }};
}

Recorder activity_map(const Job& job, const Options& options) {
  const float extent = options.activity_map_extent
                           ? static_cast<float>(*options.activity_map_extent)
                           : activity_extent(synchronised(job.start).systems);
  const auto map = std::make_shared<ActivityMap>(options.activity_map, extent);
  return {options.activity_map_every, false,
          [map](const Snapshot& snapshot) { map->add(snapshot.systems); },
          [map, name = options.activity_map_name] { write_activity_map(name, *map); }};
}

}  // namespace

std::vector<Recorder> recorders(const Job& job, const Options& options) {
  std::vector<Recorder> all;
  if (options.snapshot_every > 0) all.push_back(snapshots(options));
  if (!options.diagnostics.empty()) all.push_back(diagnostics(job, options));
  if (options.activity_map > 0) all.push_back(activity_map(job, options));
  return all;
}

}  // namespace nbody
