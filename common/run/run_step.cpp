// The main program of every step.
#include <iostream>

#include "io/write_whole_file.h"
#include "live_view.h"
#include "nbody/error.h"
#include "run/float64.h"
#include "run/program.h"
#include "run/report.h"
#include "run/simulation.h"

namespace nbody {
namespace {

int choose_devices(const StepInfo& info, const Options& options, const Platform& platform) {
  if (options.devices > platform.device_count) {
    throw UsageError("--devices: \"" + std::to_string(options.devices) +
                     "\" is not allowed; this machine has " +
                     std::to_string(platform.device_count));
  }
  if (options.devices > 0) return options.devices;
  return info.multi_device ? platform.device_count : 1;
}

// Runs as often as asked and leaves the final state of the last run.
Snapshot run_repeats(const Job& job, const Options& options, Simulate simulate, LiveView* view,
                     Result& result) {
  Snapshot final;
  for (int k = 0; k < options.warmup + options.repeat; ++k) {
    Simulation simulation(job, simulate);
    run_to_end(simulation, options, observers(job, options), view);
    if (k >= options.warmup) result.repeats.push_back(simulation.timing());
    final = simulation.snapshot();
  }
  return final;
}

Result describe(const StepInfo& info, const Platform& platform, const Job& job) {
  Result result;
  result.info = info;
  result.platform = platform;
  result.devices = job.run.devices;
  result.systems = job.start.systems.count;
  result.bodies = job.start.systems.bodies_per_system;
  result.steps = job.run.steps;
  result.dt = job.start.dt;
  result.softening = job.start.softening;
  result.integrator = job.start.integrator;
  result.scenario = job.start.scenario;
  result.precision = job.start.exact.empty() ? "single" : "double";
  return result;
}

Diagnostics diagnose_state(const Snapshot& state) {
  return state.exact.empty() ? diagnose(state.systems, state.softening) : diagnose_float64(state);
}

int carry_out(const StepInfo& info, const Platform& platform, const Options& options,
              const Job& job, Simulate simulate, LiveView* view) {
  // A stream that goes nowhere is simpler than an if around every line.
  std::ostream nowhere(nullptr);
  std::ostream& out = options.quiet ? nowhere : std::cout;
  print_job(out, info, platform, job);

  Result result = describe(info, platform, job);
  if (view != nullptr) view->print_address(out);
  const Snapshot final = run_repeats(job, options, simulate, view, result);
  const bool cut_short = final.step < job.last_step;
  if (cut_short) {
    result.steps = static_cast<int>(final.step - job.start.step);
    out << "  stopped      after " << result.steps << " steps\n";
    if (result.steps == 0) return kRight;
  }

  const Snapshot initial = job.synchronised_start();
  if (!options.quiet && !cut_short)
    print_diagnostics(out, diagnose_state(initial), diagnose_state(final));

  std::optional<Validation> validation;
  if (options.validate != ValidationMode::off && !cut_short) {
    const Advance advance = [&](const Run& run, Systems& systems) { simulate(run, systems); };
    validation = options.float64
                     ? validate_float64(initial, final)
                     : validate({info, job.run, job.half_drift(), initial.systems, final.systems},
                                options.validate, advance);
    result.gates = validation->gates;
    result.verdict = validation->passed() ? "pass" : "fail";
  }
  print_result(out, result, validation ? &*validation : nullptr);

  if (!options.output.empty()) write_bodies(options.output, final);
  if (!options.json.empty()) {
    write_whole_file(options.json, [&](std::ostream& file) { file << to_json(result) << '\n'; });
  }
  if (!options.timeline.empty()) {
    write_whole_file(options.timeline,
                     [&](std::ostream& file) { file << to_csv(result.repeats.back().spans); });
  }
  if (result.verdict == "fail") {
    std::cerr << info.name << ": validation failed; the result is not to be trusted\n";
  }
  if (!options.quiet && !std::cout.flush())
    throw std::runtime_error("cannot write to standard output");
  if (view != nullptr) view->hold(out);
  return result.verdict == "fail" ? kFailed : kRight;
}

int run(const StepInfo& info, Simulate simulate, QueryPlatform query, int argc, char** argv) {
  const auto options = parse_options(info, argc, argv);
  if (!options) return kRight;
  Job job = prepare_job(*options);
  const Platform platform = query();
  job.run.devices = choose_devices(info, *options, platform);
  std::optional<LiveView> view;
  if (options->view) view.emplace(*options->view, info, platform, job);
  try {
    return carry_out(info, platform, *options, job, simulate, view ? &*view : nullptr);
  } catch (const UsageError& error) {
    // The command line was accepted: a folder that vanishes during the run is no mistake in it.
    throw std::runtime_error(error.what());
  }
}

}  // namespace

int run_step(const StepInfo& info, Simulate simulate, QueryPlatform query, int argc, char** argv) {
  return run_program(info.name, [&] { return run(info, simulate, query, argc, argv); });
}

}  // namespace nbody
