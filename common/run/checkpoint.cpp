#include "run/checkpoint.h"

#include <utility>

#include "io/activity_map_file.h"
#include "nbody/error.h"
#include "run/program.h"
#include "support/crc32.h"
#include "support/text.h"

namespace nbody {
namespace {

constexpr const char* kMap = "activity-map";
constexpr const char* kMapEvery = "activity-map-every";
constexpr const char* kMapCounts = "activity-map-counts";
constexpr const char* kApproximation = "theta-multipole";
constexpr const char* kStart = "start";  // a checksum of the run's initial state
constexpr const char* kInstead = "; choose another file, or replace this one with --restart";

std::string value_of(const Snapshot& start, const char* key) {
  const auto found = start.checkpoint.find(key);
  return found == start.checkpoint.end() ? "" : found->second;
}

// Called for a difference that changes the bits of the result. With --resume-anyway, records the
// difference; otherwise throws UsageError.
void note(const Options& options, Job& job, const std::string& difference) {
  const bool resumes = job.continues == options.resume;
  if (!resumes || !options.resume_anyway)
    throw UsageError(resumes ? "--resume" : "--checkpoint", ": ", job.continues, " ", difference,
                     ", so the run would not end with the same bits as an uninterrupted one (",
                     resumes ? "--resume-anyway resumes it nevertheless"
                             : "--restart starts again and replaces the file",
                     ")");
  job.notes.push_back(difference);
}

// Throws UsageError unless the requested value equals the checkpoint's.
void require_same(const char* option, const std::string& asked, const std::string& stored) {
  if (asked != stored) refuse(option, asked, kMadeWith, stored.empty() ? "none" : stored);
}

// A resumed run that adds every K-th step to its activity map must continue the saved map. A map of
// only the final state needs no saved data.
void require_same_map(const Options& options, Job& job) {
  if (options.activity_map == 0 || options.activity_map_every == 0) {
    for (const char* key : {kMap, kMapEvery, kMapCounts}) job.start.checkpoint.erase(key);
    return;
  }
  if (value_of(job.start, kMapCounts).empty())
    return note(options, job, "has no activity map of the earlier steps");
  require_same("--activity-map", std::to_string(options.activity_map), value_of(job.start, kMap));
  require_same("--activity-map-every", std::to_string(options.activity_map_every),
               value_of(job.start, kMapEvery));
  saved_activity_map(options, job);
}

// A resumed run begins with a new tree. An uninterrupted run keeps its tree here, unless the number
// of steps is a multiple of --rebuild-every.
void require_new_tree(const Options& options, Job& job) {
  const int every = options.approximation ? options.approximation->rebuild_every.value_or(1) : 1;
  if (job.start.step % every != 0 && job.start.step < job.last_step)
    note(options, job,
         joined("was written after ", job.start.step,
                " steps, which is not a multiple of --rebuild-every ", every));
}

// Formats the approximation as "0.6, 2" or "1, 2, 0.01, --order 3, --rebuild-every 2"; returns ""
// for a direct sum.
std::string approximation_of(const Options& options) {
  if (!options.approximation) return "";
  const auto& [theta, multipole, force_tolerance, order, rebuild_every] = *options.approximation;
  std::string text = joined(shortest(theta), ", ", multipole);
  if (force_tolerance) text += ", " + shortest(*force_tolerance);
  if (order) text += joined(", --order ", *order);
  if (rebuild_every > 1) text += joined(", --rebuild-every ", *rebuild_every);
  return text;
}

const char* precision_of(const Options& options) { return options.float64 ? "double" : "single"; }

std::string checksum(const Snapshot& start) {
  Crc32 sum;
  const auto add = [&sum](const void* data, std::size_t bytes) {
    sum.add({static_cast<const char*>(data), bytes});
  };
  add(&start.time, sizeof start.time);
  add(&start.step, sizeof start.step);
  if (is_float64(start))
    add(start.exact.data(), start.exact.size() * sizeof(BodyF64));
  else
    add(start.systems.bodies.data(), start.systems.bodies.size() * sizeof(Body));
  return format("%08x", static_cast<unsigned>(sum.value()));
}

// If these settings of two runs are equal, the runs differ only in their number of steps.
using Problem = std::vector<std::pair<const char*, std::string>>;

Problem problem_of(const Snapshot& state) {
  const std::string seed = value_of(state, "seed");
  return {{"the program", value_of(state, "program")},
          {"--precision", value_of(state, "precision")},
          {"--theta, --multipole", value_of(state, kApproximation)},
          {"--scenario", seed.empty() ? "" : state.scenario},  // a file name if there is no seed
          {"--seed", seed},
          {"--systems", std::to_string(state.systems.count)},
          {"--bodies", std::to_string(state.systems.bodies_per_system)},
          {"--dt", shortest(state.dt)},
          {"--softening", shortest(state.softening)},
          {"--integrator", to_string(state.integrator)},
          {"the checksum of the bodies at the start", value_of(state, kStart)}};
}

void require_same_problem(const Options& options, const Problem& asked, const Snapshot& saved) {
  if (saved.checkpoint.empty())
    refuse("--checkpoint", options.checkpoint, "it is a snapshot, not a checkpoint", kInstead);
  if (value_of(saved, kStart).empty())
    refuse("--checkpoint", options.checkpoint,
           "an older version of the program wrote the file and did not store how the run began; "
           "use --resume",
           kInstead);
  const Problem stored = problem_of(saved);
  const auto none = [](const std::string& value) { return value.empty() ? "none" : value; };
  for (std::size_t k = 0; k < asked.size(); ++k)
    if (asked[k].second != stored[k].second)
      refuse("--checkpoint", options.checkpoint, "it belongs to another problem: ", asked[k].first,
             " is ", none(stored[k].second), " there and ", none(asked[k].second), " here",
             kInstead);
}

Snapshot read_checkpoint(const Options& options) {
  try {
    return read_bodies(options.checkpoint, {.float64 = options.float64});
  } catch (const UsageError& error) {
    throw UsageError("--checkpoint: ", std::string(error.what()), kInstead);
  }
}

// True if the file of --checkpoint exists and is not the file that --resume reads.
bool has_checkpoint(const Options& options) {
  std::error_code no_matter;
  return !options.checkpoint.empty() && !options.restart &&
         std::filesystem::is_regular_file(options.checkpoint, no_matter) &&
         (options.resume.empty() || !same_file(options.resume, options.checkpoint));
}

}  // namespace

void begin_checkpoints(const Options& options, Job& job) {
  job.start.checkpoint = {{"program", options.program},
                          {"version", revision()},
                          {"precision", precision_of(options)},
                          {"extent", shortest(activity_extent(job.start.systems))}};
  if (options.approximation) job.start.checkpoint[kApproximation] = approximation_of(options);
  if (!options.input) job.start.checkpoint["seed"] = std::to_string(options.seed.value_or(1));
  if (!options.checkpoint.empty()) job.start.checkpoint[kStart] = checksum(job.start);
}

void require_resumable(const Options& options, Job& job) {
  auto& checkpoint = job.start.checkpoint;
  const bool is_checkpoint = !checkpoint.empty();
  if (is_checkpoint)
    require_same("--precision", precision_of(options), value_of(job.start, "precision"));
  if (options.seed)
    require_same("--seed", std::to_string(*options.seed), value_of(job.start, "seed"));
  if (!is_checkpoint) {
    note(options, job, "is a snapshot, not a checkpoint");
    begin_checkpoints(options, job);
    checkpoint.erase("seed");
  } else if (const std::string writer = value_of(job.start, "program"); writer != options.program) {
    note(options, job, "was written by " + writer + ", which adds up forces in a different order");
    checkpoint.erase(kStart);  // from that initial state, this program would get other bits
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
  if (!options.checkpoint.empty() && value_of(job.start, kStart).empty())
    checkpoint[kStart] = checksum(job.start);
  require_same_map(options, job);
  require_new_tree(options, job);
}

void continue_from_checkpoint(const Options& options, Job& job) {
  if (!has_checkpoint(options)) return;
  Snapshot& state = job.start;
  const Problem asked = problem_of(state);
  // Frees memory before the bodies of the checkpoint are read.
  state.systems.bodies = std::vector<Body>();
  state.exact = std::vector<BodyF64>();
  Snapshot saved = read_checkpoint(options);
  require_same_problem(options, asked, saved);
  if (job.last_step < saved.step)
    refuse("--steps", job.last_step, options.checkpoint, " has already taken ", saved.step,
           " steps", kInstead);
  job.continues = options.checkpoint;
  // The other members of `state` keep their values: units, species and names. (A BIN file does not
  // store names.)
  state.systems = std::move(saved.systems);
  state.exact = std::move(saved.exact);
  state.time = saved.time;
  state.step = saved.step;
  state.staggered = saved.staggered;
  state.checkpoint = std::move(saved.checkpoint);
  if (const std::string writer = value_of(state, "version"); writer != revision())
    job.notes.push_back("was written by version " + writer);
  state.checkpoint["version"] = revision();
  require_same_map(options, job);
  require_new_tree(options, job);
}

void set_platform(const Options& options, const Platform& platform, Job& job) {
  const std::string before = value_of(job.start, "backend"), device = value_of(job.start, "device");
  if (!before.empty() && before != platform.backend)
    note(options, job,
         "was written by a program for " + before + ", but this one is for " + platform.backend);
  if (!device.empty() && device != platform.device_name)
    job.notes.push_back("was written on " + device + ", whose sums may differ in their last bits");
  job.start.checkpoint["backend"] = platform.backend;
  // Only a GPU's name matters, because steps adapt their blocks to the GPU. All CPUs compute the
  // same bits.
  if (platform.backend == "cuda") job.start.checkpoint["device"] = platform.device_name;
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

ActivityMap saved_activity_map(const Options& options, const Job& job) {
  const float extent = activity_map_extent(options, job.start);
  const std::string text = value_of(job.start, kMapCounts);
  if (text.empty()) return {options.activity_map, extent};
  const std::size_t blank = std::min(text.find(' '), text.size());
  require_same("--activity-map-extent", shortest(extent), text.substr(0, blank));
  return map_of_counts(job.continues.string(), options.activity_map, extent,
                       std::string_view(text).substr(blank));
}

}  // namespace nbody
