#include "run/step_program.h"

#include <algorithm>
#include <iostream>
#include <numeric>
#include <random>

#include "io/shape_table.h"
#include "io/write_whole_file.h"
#include "nbody/cluster.h"
#include "nbody/error.h"
#include "physics/force_error.h"
#include "physics/reference.h"
#include "run/checkpoint.h"
#include "run/program.h"
#include "run/report.h"
#include "run/run_view.h"
#include "support/platform.h"

namespace nbody {
namespace {

// The largest number of interactions to compute for energies that only the result record contains.
constexpr double kQuickBudget = 1e8;

int choose_devices(const StepInfo& info, const Options& options, const Platform& platform) {
  if (options.devices > platform.device_count)
    refuse("--devices", options.devices, "this machine has ", platform.device_count);
  if (options.devices > 0) return options.devices;
  return info.multi_device ? platform.device_count : 1;
}

// Loads the tuned shapes of this program on this device. If there is no table of tuned shapes,
// the rule of shape.h applies.
Tuning known_shapes(const StepInfo& info, const Options& options, const Platform& platform) {
  const auto file = options.tuned.empty() ? users_shape_table() : options.tuned;
  std::error_code no_matter;
  const bool there = !options.tuned.empty() || std::filesystem::is_regular_file(file, no_matter);
  return there ? read_shape_table(file, info.name, platform.device_name) : Tuning();
}

// Returns a number of time steps so small that one call lasts a few seconds at most, even on a slow
// device.
int steps_at_once(const Job& job, const Platform& platform) {
  const bool gpu = platform.backend == "cuda", float64 = is_float64(job.start);
  const double affordable = !gpu ? 4e8 : float64 ? 3e10 : 1e12;  // interactions
  const double n = job.start.systems.bodies_per_system;
  const double per_body = job.run.approximation.theta > 0 ? std::min(n, 4000.0) : n;
  const double steps = affordable / (job.start.systems.count * n * per_body);
  return static_cast<int>(std::clamp<double>(steps, 1, std::numeric_limits<int>::max()));
}

// Returns an object that keeps a chunk of the run for the validator to repeat. Returns nothing if
// the run is timed or not validated.
std::optional<ChunkKeeper> chunk_keeper(const Job& job, const Options& options,
                                        const Platform& platform) {
  const bool times = options.repeat > 1 || options.warmup > 0;
  if (options.validate == ValidationMode::off || times) return std::nullopt;
  return std::make_optional<ChunkKeeper>(steps_at_once(job, platform), std::random_device()());
}

// Runs all repeats. Returns the final state of the last run, as the kernels left it.
Snapshot run_repeats(Job& job, const Options& options, Simulate simulate, RunView* view,
                     ChunkKeeper* keeper, Result& result) {
  Snapshot final;
  for (int k = 0; k < options.warmup + options.repeat; ++k) {
    final = {};
    const auto recording = recorders(job, options);
    Simulation simulation(job, options.needs_start() ? job.start : std::move(job.start), simulate);
    run_to_end(simulation, options, recording, view, keeper);
    if (k >= options.warmup) result.repeats.push_back(simulation.timing());
    final = std::move(simulation).release();
  }
  return final;
}

Result describe(const StepInfo& info, const Platform& platform, const Job& job) {
  Result result;
  result.info = info;
  result.platform = platform;
  result.devices = job.run.devices * ranks().count;
  result.systems = job.start.systems.count;
  result.bodies_per_system = job.start.systems.bodies_per_system;
  result.steps = job.run.steps;
  result.dt = job.start.dt;
  result.softening = job.start.softening;
  result.integrator = job.start.integrator;
  result.scenario = job.start.scenario;
  result.precision = is_float64(job.start) ? "double" : "single";
  if (info.approximation) result.approximation = job.run.approximation;
  return result;
}

template <class Real>
Plausibility physics_of(const Snapshot& at, double dt, int steps, const BasicSystems<Real>& start,
                        const BasicSystems<Real>& end, const std::vector<Diagnostics>& before,
                        const std::vector<Diagnostics>& after) {
  return plausibility<Real>({at.integrator, dt, steps, at.softening, start, end, before, after});
}

std::vector<Diagnostics> diagnose_each(const Snapshot& state, double budget) {
  return is_float64(state) ? diagnose_each(float64_systems(state), state.softening, budget)
                           : diagnose_each(state.systems, state.softening, budget);
}
Diagnostics sum_of(const std::vector<Diagnostics>& each) {
  return std::accumulate(each.begin(), each.end(), Diagnostics(),
                         [](Diagnostics a, const auto& b) { return a += b; });
}

// Reports the change of energy and momentum, and whether the run is plausible.
void judge_physics(std::ostream& out, const Options& options, const Job& job, const Snapshot& start,
                   const Snapshot& end, Result& result) {
  const bool asked = options.validate != ValidationMode::off || options.strict;
  const bool seen = !options.quiet || !options.json.empty() || options.strict;
  const bool judged = asked && seen && result.steps > 0;
  if (options.quiet && !judged) return;
  const double budget = options.quiet ? kQuickBudget : kAllPairsBudget;
  const std::vector<Diagnostics> after = diagnose_each(end, budget);
  if (result.steps == 0) return print_diagnostics(out, sum_of(after));
  const std::vector<Diagnostics> before = diagnose_each(start, budget);
  print_diagnostics(out, sum_of(before), sum_of(after));
  if (!judged) return;
  result.physics =
      is_float64(start)
          ? physics_of(start, start.dt, result.steps, float64_systems(start), float64_systems(end),
                       before, after)
          : physics_of(start, job.run.dt, result.steps, start.systems, end.systems, before, after);
}

// Wraps `simulate` as a function that advances a state; there is one overload per precision.
Advance<float> advance_of(Run run, Simulate simulate) {
  return [run, simulate](Systems& systems, double dt, int steps) mutable {
    run.dt = static_cast<float>(dt);
    run.steps = steps;
    simulate(run, systems);
  };
}
Advance<double> advance_of(const StepInfo& info, const Snapshot& start, double length = 1) {
  return [&info, &start, length](SystemsF64& systems, double dt, int steps) {
    RunF64 run = run_float64(start, steps);
    run.dt = dt;
    run.softening_squared *= length * length;
    info.float64(run, systems);
  };
}

template <class Real>
std::optional<RunChunk<Real>> run_chunk(const std::optional<Chunk>& kept, long long start) {
  if (!kept) return std::nullopt;
  const long long steps = kept->end.step - kept->start.step;
  const auto systems = [](const Snapshot& state) {
    if constexpr (std::is_same_v<Real, double>)
      return float64_systems(state);
    else
      return state.systems;
  };
  return RunChunk<Real>{systems(kept->start), systems(kept->end), kept->start.step - start,
                        static_cast<int>(steps)};
}

// Validates the run between two states, which have the form in which the kernels store them.
Validation validate_run(const StepInfo& info, const Options& options, const Job& job,
                        Simulate simulate, const Snapshot& start, const Snapshot& end,
                        const std::optional<Chunk>& kept, double seconds) {
  if (options.float64) {
    const double softening_squared = start.softening * start.softening;
    const SystemsF64 before = float64_systems(start), after = float64_systems(end);
    const auto chunk = run_chunk<double>(kept, start.step);
    return validate<double>({info.summation,
                             start.dt,
                             job.run.steps,
                             softening_squared,
                             before,
                             after,
                             seconds,
                             {},
                             chunk ? &*chunk : nullptr},
                            options.validate, advance_of(info, start),
                            {.rescaled = advance_of(info, start, kOtherLength)});
  }
  Run fine = job.run, rescaled = job.run, unlimited = job.run, expanding = job.run;
  fine.approximation = finer(fine.approximation).value_or(fine.approximation);
  unlimited.approximation = by_angle(unlimited.approximation).value_or(unlimited.approximation);
  expanding.approximation = by_series(expanding.approximation).value_or(expanding.approximation);
  rescaled.softening_squared *= static_cast<float>(kOtherLength * kOtherLength);
  const auto chunk = run_chunk<float>(kept, start.step);
  return validate<float>({info.summation, job.run.dt, job.run.steps, job.run.softening_squared,
                          start.systems, end.systems, seconds, job.run.approximation,
                          chunk ? &*chunk : nullptr, info.tree, info.largest_group},
                         options.validate, advance_of(job.run, simulate),
                         {advance_of(fine, simulate), advance_of(rescaled, simulate),
                          advance_of(unlimited, simulate), advance_of(expanding, simulate)});
}

ForceError force_error_of(const StepInfo& info, const Options& options, const Job& job,
                          Simulate simulate, const Snapshot& start) {
  if (options.float64)
    return force_error(float64_systems(start), start.softening * start.softening,
                       options.force_error, advance_of(info, start));
  return force_error(start.systems, job.run.softening_squared, options.force_error,
                     advance_of(job.run, simulate));
}

// Returns false if a record exists and the run was already finished: such a run has measured
// nothing, so it must not replace the record.
bool is_measured(const std::filesystem::path& record, const Job& job) {
  std::error_code no_matter;
  return !record.empty() &&
         !(job.is_finished() && std::filesystem::is_regular_file(record, no_matter));
}

int carry_out(const StepInfo& info, const Platform& platform, const Options& options, Job& job,
              Simulate simulate, RunView* view) {
  // With --quiet, output goes to a null stream; this is simpler than an if around every line.
  std::ostream nowhere(nullptr);
  std::ostream& out = options.quiet ? nowhere : std::cout;
  print_job(out, info, platform, job);

  Result result = describe(info, platform, job);
  if (view != nullptr) view->print_address(std::cout);  // even with --quiet: users need the address
  std::optional<ChunkKeeper> keeper = chunk_keeper(job, options, platform);
  Snapshot end = run_repeats(job, options, simulate, view, keeper ? &*keeper : nullptr, result);
  result.ranks = ranks();
  result.shape_origin = shape_origin(tuning());
  result.shape = tuning().chosen.value_or(ChosenShape());
  const Snapshot final =
      synchronised(options.validate != ValidationMode::off ? end : std::move(end));
  const bool cut_short = final.step < job.last_step;
  if (cut_short) {
    result.steps = static_cast<int>(final.step - job.start.step);
    out << "  stopped      after " << result.steps << " steps\n";
    if (result.steps == 0) return kSuccess;
  }

  if (!cut_short && options.needs_start())
    show_synchronised(job.start, [&](const Snapshot& start) {
      judge_physics(out, options, job, start, final, result);
    });

  if (options.validate != ValidationMode::off && !cut_short) {
    const Snapshot start = Simulation(job, job.start, simulate).release();
    result.validation =
        validate_run(info, options, job, simulate, start, end,  // NOLINT(bugprone-use-after-move)
                     keeper ? keeper->chunk() : std::nullopt, median(result.repeats).total);
  }
  if (options.force_error > 0 && !cut_short)
    result.force_error = force_error_of(info, options, job, simulate,
                                        Simulation(job, job.start, simulate).release());
  print_result(out, result);

  if (!options.output.empty()) {
    const FileFormat& format = format_for_writing(options.output);
    write_bodies(options.output, final, format);
    if (final.systems.count > 1 && !format.keeps.systems)
      out << "  note         " << format.title << " has no boundaries between systems, so "
          << options.output.string() << " has one system of " << final.systems.bodies.size()
          << " bodies\n";
  }
  if (is_measured(options.json, job))
    write_whole_file(options.json, [&](std::ostream& file) { file << to_json(result) << '\n'; });
  if (is_measured(options.timeline, job))
    write_whole_file(options.timeline,
                     [&](std::ostream& file) { file << to_csv(result.repeats.back().spans); });
  const bool implausible =
      options.strict && result.physics && result.physics->word != Plausibility::Word::ok;
  const bool wrong = result.verdict() == "fail", failed = wrong || implausible;
  if (wrong) std::cerr << info.name << ": validation failed; do not trust the result\n";
  if (implausible)
    std::cerr << info.name << ": physics " << to_string(result.physics->word) << ": "
              << result.physics->reasons.front() << '\n';
  if (view != nullptr) view->hold(out);
  return failed ? kFailed : kSuccess;
}

int run(const StepInfo& info, Simulate simulate, QueryDevice query, OpenView open_view, int argc,
        char** argv) {
  const auto options = parse_options(info, argc, argv);
  if (!options) return kSuccess;
  Job job = prepare_job(*options);
  job.float64 = info.float64;
  // Before looking for a device, rejects a file that is not a table.
  if (!options->tuned.empty()) read_shape_table(options->tuned, info.name, "");
  const Platform platform = platform_of(query());
  set_platform(*options, platform, job);
  job.run.devices = choose_devices(info, *options, platform);
  // Locks pages here only for a cluster. The other steps either teach copies from pageable memory,
  // or lock the pages in simulate().
  if (info.cluster) job.platform = platform;
  tuning() = known_shapes(info, *options, platform);
  ranks().asked = options->distribute;
  std::unique_ptr<RunView> view;
  if (options->view)
    view = open_view(*options->view, info, platform, job, options->may_change_forces());
  try {
    return carry_out(info, platform, *options, job, simulate, view.get());
  } catch (const UsageError& error) {
    // The command line has been accepted, so a directory that vanishes during the run is not a
    // usage error.
    throw std::runtime_error(error.what());
  }
}

}  // namespace

int run_step_program(const StepInfo& info, Simulate simulate, QueryDevice query, OpenView open_view,
                     int argc, char** argv) {
  return run_program(info.name, [&] { return run(info, simulate, query, open_view, argc, argv); });
}

}  // namespace nbody
