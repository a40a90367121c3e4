// The options that all steps share, parsed strictly (run/command_line.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/snapshot_file.h"
#include "nbody/cluster.h"
#include "nbody/step.h"
#include "physics/validation.h"

namespace nbody {

struct Options {
  std::string program;
  std::optional<std::filesystem::path> input;
  std::vector<Species> species;  // species of the input to keep; empty: all
  std::optional<std::string> scenario;
  std::optional<int> systems;
  std::optional<int> bodies;
  std::optional<int> steps;
  std::optional<double> dt;
  std::optional<double> softening;
  std::optional<Integrator> integrator;
  std::optional<std::uint64_t> seed;
  bool float64 = false;  // --precision double
  // From --theta and the options beside it, or the step's default; empty: direct sum.
  std::optional<Approximation> approximation;
  Distribution distribute = Distribution::automatic;  // how the work is divided among ranks
  int devices = 0;  // 0: all available, or one if the step uses only one

  std::filesystem::path output;
  int snapshot_every = 0;  // 0: none
  std::filesystem::path snapshot_folder;
  std::filesystem::path diagnostics;  // CSV
  int diagnostics_every = 0;          // 0: with each snapshot; without snapshots, at start and end
  bool diagnostics_exact = false;     // sums all pairs, for any number of bodies
  int activity_map = 0;               // cells per side; 0: none
  int activity_map_every = 0;         // 0: only the final state
  std::optional<double> activity_map_extent;
  std::filesystem::path activity_map_name = "activity_map";  // without extension
  std::filesystem::path checkpoint;
  bool restart = false;  // start anew even if there is a checkpoint
  std::filesystem::path resume;
  bool resume_anyway = false;

  int repeat = 1;
  int warmup = 0;
  ValidationMode validate = ValidationMode::automatic;
  int force_error = 0;  // number of bodies whose forces are compared one by one; 0: none
  std::filesystem::path json;
  std::filesystem::path timeline;
  std::filesystem::path tuned;  // empty: the user's file, if it exists
  std::optional<int> view;      // port on 127.0.0.1; 0: any free port
  bool strict = false;          // implausible physics counts as an error
  bool quiet = false;

  // True if dt and the softening may change during the run. They must not change if an output
  // stores only one dt and one softening for the whole run.
  bool may_change_forces() const {
    return !steps && json.empty() && checkpoint.empty() && diagnostics.empty();
  }
  // False if the run is neither repeated nor compared with its start. Then the bodies are stored
  // only once.
  bool needs_start() const {
    return warmup + repeat > 1 || !quiet || force_error > 0 || strict ||
           validate != ValidationMode::off;
  }
};

// If the command line has --help or --version, prints the requested text and returns nothing.
// Throws a UsageError that gives, in one line, the option, its value and the allowed values.
std::optional<Options> parse_options(const StepInfo& info, int argc, char** argv);

}  // namespace nbody
