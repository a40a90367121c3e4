#include "run/checkpoint.h"

#include "io/activity_map_file.h"
#include "nbody/error.h"
#include "run/program.h"
#include "support/text.h"

namespace nbody {
namespace {

constexpr const char* kMap = "activity-map";
constexpr const char* kMapEvery = "activity-map-every";
constexpr const char* kMapCounts = "activity-map-counts";
constexpr const char* kApproximation = "theta-multipole";

std::string value_of(const Snapshot& start, const char* key) {
  const auto found = start.checkpoint.find(key);
  return found == start.checkpoint.end() ? "" : found->second;
}

// What would change the bits of the result.
void note(const Options& options, Job& job, const std::string& difference) {
  if (!options.resume_anyway)
    throw UsageError("--resume: ", options.resume, " ", difference,
                     ": the run would not end with the bits of an uninterrupted one"
                     " (--resume-anyway resumes it all the same)");
  job.notes.push_back(difference);
}

// What was asked for must be what the checkpoint has.
void require_same(const char* option, const std::string& asked, const std::string& stored) {
  if (asked != stored) refuse(option, asked, kMadeWith, stored.empty() ? "none" : stored);
}

// A map of every K-th step goes on; one of the final state alone begins and ends there.
void require_same_map(const Options& options, Job& job) {
  if (options.activity_map == 0 || options.activity_map_every == 0) {
    for (const char* key : {kMap, kMapEvery, kMapCounts}) job.start.checkpoint.erase(key);
    return;
  }
  if (value_of(job.start, kMapCounts).empty())
    return note(options, job, "has no activity map of the steps before it");
  require_same("--activity-map", std::to_string(options.activity_map), value_of(job.start, kMap));
  require_same("--activity-map-every", std::to_string(options.activity_map_every),
               value_of(job.start, kMapEvery));
  saved_activity_map(options, job.start);
}

// "0.6, 2"; empty for a direct sum.
std::string approximation_of(const Options& options) {
  if (!options.approximation) return "";
  return joined(shortest(options.approximation->theta), ", ", options.approximation->multipole);
}

const char* precision_of(const Options& options) { return options.float64 ? "double" : "single"; }

}  // namespace

void begin_checkpoints(const Options& options, Job& job) {
  job.start.checkpoint = {{"program", options.program},
                          {"version", revision()},
                          {"precision", precision_of(options)},
                          {"extent", shortest(activity_extent(job.start.systems))}};
  if (options.approximation) job.start.checkpoint[kApproximation] = approximation_of(options);
  if (!options.input) job.start.checkpoint["seed"] = std::to_string(options.seed.value_or(1));
}

void require_resumable(const Options& options, Job& job) {
  auto& checkpoint = job.start.checkpoint;
  const bool is_checkpoint = !checkpoint.empty();
  if (is_checkpoint)
    require_same("--precision", precision_of(options), value_of(job.start, "precision"));
  if (options.seed)
    require_same("--seed", std::to_string(*options.seed), value_of(job.start, "seed"));
  if (!is_checkpoint) {
    note(options, job, "is a snapshot and no checkpoint");
    begin_checkpoints(options, job);
    checkpoint.erase("seed");
  } else if (const std::string writer = value_of(job.start, "program"); writer != options.program) {
    note(options, job, "was written by " + writer + ", which adds in another order");
    checkpoint["program"] = options.program;
    checkpoint.erase(kApproximation);
    if (options.approximation) checkpoint[kApproximation] = approximation_of(options);
  } else {
    require_same("--theta, --multipole", approximation_of(options),
                 value_of(job.start, kApproximation));
  }
  if (is_checkpoint && value_of(job.start, "version") != revision())
    job.notes.push_back("was written by version " + value_of(job.start, "version"));
  checkpoint["version"] = revision();
  require_same_map(options, job);
}

void set_backend(const Options& options, const std::string& backend, Job& job) {
  const std::string before = value_of(job.start, "backend");
  if (!before.empty() && before != backend)
    note(options, job,
         "was written by a program for " + before + ", and this one is for " + backend);
  job.start.checkpoint["backend"] = backend;
}

float activity_map_extent(const Options& options, const Snapshot& start) {
  if (options.activity_map_extent) return static_cast<float>(*options.activity_map_extent);
  const auto saved = parse_whole<float>(value_of(start, "extent"));
  return saved && *saved > 0 ? *saved : activity_extent(synchronised(start).systems);
}

void save_activity_map(const ActivityMap& map, const Options& options, Snapshot& checkpoint) {
  checkpoint.checkpoint[kMap] = std::to_string(map.cells());
  checkpoint.checkpoint[kMapEvery] = std::to_string(options.activity_map_every);
  checkpoint.checkpoint[kMapCounts] = shortest(map.extent()) + " " + counts_text(map);
}

ActivityMap saved_activity_map(const Options& options, const Snapshot& start) {
  const float extent = activity_map_extent(options, start);
  const std::string text = value_of(start, kMapCounts);
  if (text.empty()) return {options.activity_map, extent};
  const std::size_t blank = std::min(text.find(' '), text.size());
  require_same("--activity-map-extent", shortest(extent), text.substr(0, blank));
  return map_of_counts(options.resume.string(), options.activity_map, extent,
                       std::string_view(text).substr(blank));
}

}  // namespace nbody
