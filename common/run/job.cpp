#include "run/job.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "io/activity_map_file.h"
#include "io/diagnostics_file.h"
#include "io/formats/formats.h"
#include "io/write_whole_file.h"
#include "nbody/error.h"
#include "physics/integrator.h"
#include "run/checkpoint.h"
#include "run/command_line.h"
#include "scenarios/initial_conditions.h"
#include "support/memory.h"
#include "support/text.h"

namespace nbody {
namespace {

constexpr double kDefaultDt = 0.01;
constexpr double kDefaultSoftening = 0.05;
constexpr int kDefaultSteps = 20;
constexpr int kUntilStopped = std::numeric_limits<int>::max();  // number of steps with --view
constexpr long long kMaxBodies = std::numeric_limits<int>::max();

// Upper limits of a run's peak memory, in states of 28 bytes per body. kStatesAlone is for a run
// that stores only its current state, kStates for a run that also stores its start. kStatesChecked
// is for a run whose result is checked; it includes the validator's states and reference. Step 00
// uses 32, 56 and 328 bytes per body in these three cases. The limits are higher, because some
// steps copy the bodies, and because the program saves the positions before a half drift.
constexpr std::uint64_t kStatesAlone = 3, kStates = 6, kStatesChecked = 15;

std::string text(double value) { return in_digits(value, 9); }

// Called before anything is allocated, so that --systems 100000 --bodies 100000 causes an error
// message instead of a crash.
void check_size(const Options& options, int systems, int bodies) {
  const long long total = static_cast<long long>(systems) * bodies;
  if (total > kMaxBodies)
    throw UsageError("--systems ", systems, " --bodies ", bodies, ": ", total, " bodies; at most ",
                     kMaxBodies, " are allowed");
  const std::uint64_t states = options.validate != ValidationMode::off ? kStatesChecked
                               : options.needs_start()                 ? kStates
                                                                       : kStatesAlone;
  require_memory(joined(systems, " x ", bodies, " bodies: a run"),
                 static_cast<std::uint64_t>(total) * sizeof(Body) * states);
}

constexpr std::string_view kSnapshotPrefix = "snapshot_", kSnapshotEnding = ".bin";

bool is_snapshot_name(std::string_view name) {
  return name.starts_with(kSnapshotPrefix) && name.ends_with(kSnapshotEnding);
}

// Returns the file's name, shortened if necessary so that it fits the header of every format.
std::string scenario_name(const std::filesystem::path& file) {
  const std::string line = one_line(file.filename()).substr(0, kMaxTextBytes);
  std::string name(trimmed(line, " "));
  while (!formats::is_text(name, formats::Cut::nowhere)) name.pop_back();  // drops half a character
  return name;
}

void start_from_scenario(const Options& options, Job& job) {
  const Scenario& scenario = find_scenario(options.scenario.value_or("galaxies"));
  const int bodies = options.bodies.value_or(scenario.bodies);
  if (scenario.fixed_bodies && bodies != scenario.bodies)
    refuse("--bodies", bodies, scenario.name, " has ", scenario.bodies);
  const int systems = options.systems.value_or(scenario.systems);
  check_size(options, systems, bodies);
  const double softening = options.softening.value_or(scenario.softening);
  job.start = make_scenario(
      scenario, {systems, bodies, options.seed.value_or(1), softening, {}, options.float64});
  if (!options.species.empty())
    job.start = only_species(std::move(job.start), std::string(scenario.name), options.species);
  job.start.scenario = scenario.name;
  job.start.softening = softening;
  job.start.dt = options.dt.value_or(scenario.dt);
  job.start.integrator = options.integrator.value_or(Integrator::leapfrog);
  job.last_step = options.steps.value_or(options.view ? kUntilStopped : scenario.steps);
}

void start_from_file(const Options& options, Job& job) {
  Snapshot& start = job.start;
  start = read_bodies(*options.input, {.systems = options.systems,
                                       .bodies = options.bodies,
                                       .float64 = options.float64,
                                       .species = options.species});
  check_size(options, start.systems.count, start.systems.bodies_per_system);
  if (start.staggered) {
    throw UsageError(
        *options.input,
        " is a leapfrog checkpoint, whose positions and velocities are half a step apart: use "
        "--resume");
  }
  if (start.scenario.empty()) start.scenario = scenario_name(*options.input);
  const auto choose = [&](const char* name, const std::optional<double>& asked, double in_file,
                          double otherwise) {
    if (asked) return *asked;
    if (in_file != 0) return in_file;
    job.defaults.emplace_back(name);
    return otherwise;
  };
  start.dt = choose("dt", options.dt, start.dt, kDefaultDt);
  start.softening = choose("softening", options.softening, start.softening, kDefaultSoftening);
  start.integrator = options.integrator.value_or(start.integrator);
  start.step = 0;  // each run counts its own steps; time continues
  job.last_step = options.steps.value_or(options.view ? kUntilStopped : kDefaultSteps);
}

void start_from_checkpoint(const Options& options, Job& job) {
  Snapshot& start = job.start;
  start = read_bodies(
      options.resume,
      {.systems = options.systems, .bodies = options.bodies, .float64 = options.float64});
  job.continues = options.resume;
  if (start.dt == 0 || !(start.softening > 0)) {
    throw UsageError(options.resume,
                     " is not a checkpoint, because it does not give dt and softening");
  }
  // A resumed run must have the same settings as the interrupted one; only --steps may differ.
  if (options.dt.value_or(start.dt) != start.dt)
    refuse("--dt", text(*options.dt), kMadeWith, text(start.dt));
  if (options.softening.value_or(start.softening) != start.softening)
    refuse("--softening", text(*options.softening), kMadeWith, text(start.softening));
  if (options.integrator.value_or(start.integrator) != start.integrator)
    refuse("--integrator", to_string(*options.integrator), kMadeWith, to_string(start.integrator));
  if (!options.steps) throw UsageError("--resume needs --steps: the total number of time steps");
  if (*options.steps < start.step)
    refuse("--steps", *options.steps, "the checkpoint has already taken ", start.step, " steps");
  job.last_step = *options.steps;
  require_resumable(options, job);
}

std::vector<NamedFile> outputs_of(const Options& options) {
  std::vector<NamedFile> outputs;
  if (!options.output.empty())
    outputs = files_written("--output", options.output, format_for_writing(options.output));
  const auto add = [&](const char* name, const std::filesystem::path& file) {
    if (!file.empty()) outputs.push_back({name, file});
  };
  add("--json", options.json);
  add("--timeline", options.timeline);
  add("--checkpoint", options.checkpoint);
  add("--diagnostics", options.diagnostics);
  if (options.activity_map > 0) {
    add("--activity-map-file", activity_csv(options.activity_map_name));
    add("--activity-map-file", activity_pgm(options.activity_map_name));
  }
  if (options.snapshot_every > 0) add("--snapshot-dir", snapshot_file(options.snapshot_folder, 0));
  return outputs;
}

// The new checkpoint may replace the file that the run resumes from; no other input may be
// overwritten.
std::vector<NamedFile> inputs_of(const Options& options, const Job& job) {
  std::vector<NamedFile> inputs;
  if (!options.tuned.empty()) inputs.push_back({"--tuned", options.tuned});
  const bool replaces = !options.resume.empty() && !options.checkpoint.empty() &&
                        same_file(options.resume, options.checkpoint);
  if (replaces) return inputs;
  for (const auto& file : job.start.sources)
    inputs.push_back({options.resume.empty() ? "--input" : "--resume", file});
  return inputs;
}

// Rejects a directory that holds snapshots of an earlier run, because readers would take them for a
// part of this run.
void require_no_snapshots(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (is_snapshot_name(entry.path().filename().string()))
      refuse("--snapshot-dir", folder, "it has snapshots of an earlier run (",
             entry.path().filename(), "): remove them, or choose another folder");
}

void check_outputs(const Options& options, Job& job) {
  if (!options.output.empty())
    require_can_write(options.output, job.start, format_for_writing(options.output));
  const std::string ending = options.checkpoint.extension();
  const auto keeps_run = [&](const FileFormat& f) { return f.keeps.run && f.ending == ending; };
  if (!options.checkpoint.empty() && std::ranges::none_of(basic_formats(), keeps_run))
    refuse("--checkpoint", options.checkpoint, "a run resumes only from .bin and .csv files");
  job.outputs = std::make_shared<Outputs>(outputs_of(options), inputs_of(options, job));
  for (const auto& file : {options.output, options.checkpoint})
    if (options.snapshot_every > 0 && is_snapshot_name(file.filename().string()) &&
        same_file(snapshot_file(options.snapshot_folder, 0),
                  file.parent_path() / snapshot_file({}, 0)))
      throw UsageError("\"", file, "\" is not allowed; a snapshot has that name");
}

// Makes the checks that depend on where the run starts. A continued run must be able to continue
// the diagnostics; a new run must not find snapshots.
void check_records(const Options& options, const Job& job) {
  const bool continues = !job.continues.empty();
  if (!options.diagnostics.empty() && continues)
    require_continuable(options.diagnostics, job.start.systems.count, job.start.step);
  if (options.snapshot_every > 0 && !continues) require_no_snapshots(options.snapshot_folder);
}

}  // namespace

std::filesystem::path snapshot_file(const std::filesystem::path& folder, long long step) {
  return folder / joined(kSnapshotPrefix, format("%08lld", step), kSnapshotEnding);
}

float heaviest_mass(const Systems& systems) {
  float heaviest = 0;
  for (const Body& body : systems.bodies) heaviest = std::max(heaviest, body.mass);
  return heaviest;
}

void take_forces(const Snapshot& state, Run& run) {
  run.dt = static_cast<float>(state.dt);
  run.softening_squared = static_cast<float>(state.softening * state.softening);
}

// The force of a body on itself, or on a body at the same place, is computed as m / eps^3 times a
// distance of zero. The factor m / eps^3 must be finite, because zero times infinity is NaN.
std::string softening_refusal(double softening, float heaviest, bool float64) {
  if (!float64 && softening * softening > std::numeric_limits<float>::max())
    return "its square overflows float32: at most 1.8e19";
  if (heaviest / (softening * softening * softening) > std::numeric_limits<float>::max()) {
    return "with a mass of " + text(heaviest) +
           " the force of a body on itself overflows float32: at least " +
           text(std::cbrt(heaviest / 3e38));
  }
  return "";
}

bool is_float64(const Snapshot& state) { return !state.exact.empty(); }

SystemsF64 float64_systems(const Snapshot& state) {
  SystemsF64 systems;
  systems.count = state.systems.count;
  systems.bodies_per_system = state.systems.bodies_per_system;
  systems.bodies = state.exact;
  return systems;
}

void change_float64(Snapshot& state, const std::function<void(SystemsF64&)>& change) {
  SystemsF64 systems = float64_systems(state);
  change(systems);
  state.exact = std::move(systems.bodies);
  std::transform(state.exact.begin(), state.exact.end(), state.systems.bodies.begin(), rounded);
}

void take_half_drift(Snapshot& state, int sign) {
  if (is_float64(state)) {
    change_float64(state, [&](SystemsF64& systems) { drift(systems, sign * state.dt / 2); });
  } else {
    drift(state.systems, static_cast<float>(sign) * static_cast<float>(state.dt) / 2);
  }
  state.staggered = sign > 0;
}

Snapshot synchronised(Snapshot state) {
  if (state.staggered) take_half_drift(state, -1);
  state.checkpoint.clear();
  return state;
}

void show_synchronised(Snapshot& state, const std::function<void(const Snapshot&)>& use) {
  if (is_float64(state)) return use(synchronised(state));
  // Saves the positions, because rounding would change them in a drift forward and back.
  std::vector<std::array<float, 3>> positions;
  if (state.staggered) {
    positions.reserve(state.systems.bodies.size());
    for (const Body& body : state.systems.bodies) positions.push_back({body.x, body.y, body.z});
    take_half_drift(state, -1);
  }
  auto checkpoint = std::exchange(state.checkpoint, {});
  use(state);
  state.checkpoint = std::move(checkpoint);
  state.staggered = !positions.empty();
  for (std::size_t k = 0; k < positions.size(); ++k) {
    Body& body = state.systems.bodies[k];
    body.x = positions[k][0], body.y = positions[k][1], body.z = positions[k][2];
  }
}

Job prepare_job(const Options& options) {
  Job job;
  if (!options.resume.empty()) {
    start_from_checkpoint(options, job);
    check_size(options, job.start.systems.count, job.start.systems.bodies_per_system);
  } else if (options.input) {
    start_from_file(options, job);
  } else {
    start_from_scenario(options, job);
  }
  if (options.resume.empty()) begin_checkpoints(options, job);
  const Snapshot& start = job.start;
  const auto refusal =
      softening_refusal(start.softening, heaviest_mass(start.systems), is_float64(start));
  if (!refusal.empty()) refuse("--softening", text(start.softening), refusal);
  check_outputs(options, job);
  continue_from_checkpoint(options, job);  // the checkpoint is now locked against other programs
  check_records(options, job);
  take_forces(start, job.run);
  job.run.steps = job.last_step - static_cast<int>(start.step);
  job.run.approximation = options.approximation.value_or(Approximation());
  return job;
}

}  // namespace nbody
