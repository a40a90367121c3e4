#include "nbody/options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <functional>
#include <iostream>
#include <limits>
#include <map>

#include "nbody/activity_map.h"
#include "nbody/error.h"
#include "nbody/initial_conditions.h"
#include "nbody/revision.h"

namespace nbody {
namespace {

// A whole token or nothing: "12abc", "", "1e3" for a whole number and "nan" are all refused.
template <class Number>
std::optional<Number> parse_whole(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

[[noreturn]] void refuse(const std::string& option, const std::string& value,
                         const std::string& allowed) {
  throw UsageError(option + ": \"" + value + "\" is not allowed; " + allowed);
}

class Parser {
 public:
  explicit Parser(const StepInfo& info)
      : app_("All-pairs gravity: " + std::string(info.name), info.name) {
    app_.set_version_flag("--version", std::string(info.name) + " " + revision());
    app_.get_formatter()->column_width(38);
  }

  template <class Target>
  void whole(const std::string& name, Target& target, long long low, long long high,
             const std::string& help) {
    const std::string allowed =
        "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
    add(name, "N", help, [=, &target](const std::string& text) {
      const auto value = parse_whole<long long>(text);
      if (!value || *value < low || *value > high) refuse(name, text, allowed);
      target = static_cast<int>(*value);
    });
  }

  void seed(const std::string& name, std::uint64_t& target, const std::string& help) {
    add(name, "K", help, [=, &target](const std::string& text) {
      const auto value = parse_whole<std::uint64_t>(text);
      if (!value) refuse(name, text, "a whole number from 0 to 18446744073709551615");
      target = *value;
    });
  }

  void real(const std::string& name, std::optional<double>& target, double low,
            const std::string& allowed, const std::string& help) {
    add(name, "X", help, [=, &target](const std::string& text) {
      const auto value = parse_whole<double>(text);
      // The state is float32: what does not fit there cannot be honoured.
      if (!value || !(*value >= low) || *value > std::numeric_limits<float>::max()) {
        refuse(name, text, allowed);
      }
      target = *value;
    });
  }

  template <class Choice, class Target>
  void choice(const std::string& name, Target& target, const std::map<std::string, Choice>& choices,
              const std::string& help) {
    std::string names;
    for (const auto& [key, unused] : choices) names += (names.empty() ? "" : ", ") + key;
    add(name, "WORD", help + ": " + names, [=, &target](const std::string& text) {
      const auto found = choices.find(text);
      if (found == choices.end()) refuse(name, text, "one of " + names);
      target = found->second;
    });
  }

  void species(const std::string& name, std::vector<Species>& target, const std::string& help) {
    add(name, "LIST", help,
        [=, &target](const std::string& text) { target = parse_species(name, text); });
  }

  template <class Target>
  void text(const std::string& name, Target& target, const std::string& help) {
    add(name, "NAME", help, [=, &target](const std::string& text) {
      if (text.empty()) refuse(name, text, "a name that is not empty");
      target = text;
    });
  }

  void flag(const std::string& name, bool& target, const std::string& help) {
    app_.add_flag(name, target, help);
  }

  // False after --help or --version.
  bool parse(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
      return true;
    } catch (const CLI::Success& success) {
      app_.exit(success);
      return false;
    } catch (const CLI::ParseError& error) {
      std::string line = error.what();
      for (char& c : line) c = c == '\n' ? ' ' : c;
      throw UsageError(line + " (see --help)");
    }
  }

 private:
  void add(const std::string& name, const std::string& type, const std::string& help,
           const std::function<void(const std::string&)>& take) {
    app_.add_option_function<std::string>(name, take, help)->type_name(type);
  }

  CLI::App app_;
};

void check_combinations(const StepInfo& info, const Options& options) {
  const int sources =
      options.input.has_value() + options.scenario.has_value() + !options.resume.empty();
  if (sources > 1) throw UsageError("--input, --scenario and --resume exclude each other");
  if (!options.species.empty() && !options.input)
    throw UsageError("--species chooses bodies of a file: it goes with --input");
  if ((options.snapshot_every > 0) == options.snapshot_folder.empty()) {
    throw UsageError("--snapshot-every and --snapshot-dir go together: one of them is missing");
  }
  const bool writes_on_the_way = options.snapshot_every > 0 || !options.checkpoint.empty() ||
                                 !options.diagnostics.empty() || options.activity_map > 0;
  if (writes_on_the_way && (options.repeat > 1 || options.warmup > 0)) {
    throw UsageError(
        "--repeat and --warmup are for timing: they do not go with --snapshot-every, "
        "--checkpoint, --diagnostics or --activity-map");
  }
  if (options.diagnostics_every > 0 && options.diagnostics.empty()) {
    throw UsageError("--diagnostics-every needs --diagnostics: a file to write to");
  }
  const bool activity_details = options.activity_map_every > 0 || options.activity_map_extent ||
                                options.activity_map_name != Options().activity_map_name;
  if (activity_details && options.activity_map == 0) {
    throw UsageError("--activity-map-... needs --activity-map: the number of cells a side");
  }
  if (options.view && (options.repeat > 1 || options.warmup > 0)) {
    throw UsageError("--repeat and --warmup are for timing: they do not go with --view");
  }
  if (options.float64 && !info.float64) {
    throw UsageError("--precision: \"double\" is not allowed; " + std::string(info.name) +
                     " computes in float32, step00_cpu_omp also in float64");
  }
  if (options.devices > 1 && !info.multi_device) {
    throw UsageError("--devices: \"" + std::to_string(options.devices) + "\" is not allowed; " +
                     info.name + " uses one device");
  }
}

}  // namespace

std::optional<Options> parse_options(const StepInfo& info, int argc, char** argv) {
  constexpr int most = std::numeric_limits<int>::max();
  Options options;
  Parser parser(info);
  std::string names;
  for (const Scenario& scenario : scenarios()) {
    names += (names.empty() ? "" : ", ") + std::string(scenario.name);
  }
  parser.text("--input", options.input, "file of bodies: CSV, BIN, Tipsy, raw; found by content");
  parser.species("--species", options.species, "bodies of the input to keep: dark,star [all]");
  parser.text("--scenario", options.scenario, "initial condition: " + names + " [galaxies]");
  parser.whole("--systems", options.systems, 1, most, "number of independent systems");
  parser.whole("--bodies", options.bodies, 1, most, "bodies of each system");
  parser.seed("--seed", options.seed, "of the random initial conditions [1]");
  parser.whole("--steps", options.steps, 1, most, "time steps in all");
  parser.real("--dt", options.dt, 1e-30, "a number from 1e-30 to 3.4e38", "length of a time step");
  parser.real(
      "--softening", options.softening, 1e-12,
      "a number from 1e-12 to 3.4e38 (below that the cube of the inverse distance of a body "
      "to itself overflows float32)",
      "Plummer softening length");
  parser.choice<Integrator>("--integrator", options.integrator,
                            {{"euler", Integrator::euler}, {"leapfrog", Integrator::leapfrog}},
                            "order 1 or 2");
  parser.choice<bool>("--precision", options.float64, {{"single", false}, {"double", true}},
                      "of state and arithmetic (double: step00_cpu_omp) [single]");
  parser.whole("--devices", options.devices, 1, 64, "devices to use");
  parser.text("--output", options.output, "final state: .csv, .bin, .tipsy or .raw");
  parser.whole("--snapshot-every", options.snapshot_every, 1, most, "time steps between snapshots");
  parser.text("--snapshot-dir", options.snapshot_folder, "existing folder for snapshot_*.bin");
  parser.text("--diagnostics", options.diagnostics,
              "CSV of energy, momentum, radii at the start, at every snapshot and at the end");
  parser.whole("--diagnostics-every", options.diagnostics_every, 1, most,
               "time steps between its rows, instead of those between snapshots");
  parser.whole("--activity-map", options.activity_map, 1, kMostActivityCells,
               "histogram of the x-y positions, N x N cells, of the final state");
  parser.whole("--activity-map-every", options.activity_map_every, 1, most,
               "add up the states of every N-th step and the final one instead");
  parser.real("--activity-map-extent", options.activity_map_extent, 1e-30,
              "a number from 1e-30 to 3.4e38",
              "half side of its square round the origin [holds 95 % of the bodies at the start]");
  parser.text("--activity-map-file", options.activity_map_name,
              "writes NAME.csv and NAME.pgm [activity_map]");
  parser.text("--checkpoint", options.checkpoint,
              "file to resume from, written at every snapshot, every few seconds and at the end");
  parser.text("--resume", options.resume, "go on from a checkpoint up to --steps");
  parser.whole("--repeat", options.repeat, 1, 100000, "timed runs, from the same start [1]");
  parser.whole("--warmup", options.warmup, 0, 100000, "runs before the timed ones [0]");
  parser.choice<ValidationMode>("--validate", options.validate,
                                {{"auto", ValidationMode::automatic},
                                 {"full", ValidationMode::full},
                                 {"sampled", ValidationMode::sampled},
                                 {"off", ValidationMode::off}},
                                "check the result against float64");
  parser.text("--json", options.json, "result record, one line of JSON");
  parser.text("--timeline", options.timeline,
              "CSV of when each system was uploaded, computed, downloaded (steps 05 to 09)");
  parser.whole("--view", options.view, 0, 65535,
               "show the run in a browser, on this port of 127.0.0.1 (0: any free one)");
  parser.flag("--quiet", options.quiet, "print nothing but errors");
  if (!parser.parse(argc, argv)) return std::nullopt;
  check_combinations(info, options);
  return options;
}

}  // namespace nbody
