#include "run/options.h"

#include <limits>

#include "nbody/error.h"
#include "physics/activity_map.h"
#include "run/command_line.h"
#include "scenarios/initial_conditions.h"
#include "support/text.h"

namespace nbody {
namespace {

// If theta were above 1, a node that acts as one body could overlap the bodies on which it acts.
constexpr double kMaxTheta = 1;
constexpr const char* kThetaAllowed = "a number from 0 to 1";
// If the tolerance were above 1, the first omitted term of a node's multipole series could be
// larger than the force.
constexpr double kMaxForceTolerance = 1;
constexpr const char* kForceToleranceAllowed = "a number from 0 to 1";

void check_combinations(const StepInfo& info, const Options& options,
                        const std::optional<double>& theta, const std::optional<int>& multipole,
                        const std::optional<double>& force_tolerance,
                        const std::optional<int>& order, const std::optional<int>& rebuild_every) {
  const auto refuse_if = [](bool wrong, const auto&... why) {
    if (wrong) throw UsageError(why...);
  };
  const bool resumes = !options.resume.empty(), diagnostics = !options.diagnostics.empty();
  const bool times = options.repeat > 1 || options.warmup > 0;
  const int sources = options.input.has_value() + options.scenario.has_value() + resumes;
  refuse_if(sources > 1, "--input, --scenario and --resume exclude each other");
  refuse_if(options.restart && options.checkpoint.empty(),
            "--restart needs --checkpoint: the file that it replaces");
  refuse_if(options.restart && resumes, "--restart and --resume exclude each other");
  refuse_if(options.resume_anyway && !resumes,
            "--resume-anyway needs --resume: a file to continue from");
  refuse_if(!options.species.empty() && resumes,
            "--species selects bodies to start with: it cannot be used with --resume");
  refuse_if((options.snapshot_every > 0) == options.snapshot_folder.empty(),
            "--snapshot-every and --snapshot-dir must be given together: one is missing");
  const bool writes_on_the_way = options.snapshot_every > 0 || !options.checkpoint.empty() ||
                                 diagnostics || options.activity_map > 0;
  refuse_if(writes_on_the_way && times,
            "--repeat and --warmup are for timing: they cannot be used with --snapshot-every, "
            "--checkpoint, --diagnostics or --activity-map");
  for (const auto& [asked, option] :
       {std::pair(options.diagnostics_every > 0, "--diagnostics-every"),
        {options.diagnostics_exact, "--diagnostics-exact"}})
    refuse_if(asked && !diagnostics, option, " needs --diagnostics: a file to write to");
  const bool activity_details = options.activity_map_every > 0 || options.activity_map_extent ||
                                options.activity_map_name != Options().activity_map_name;
  refuse_if(activity_details && options.activity_map == 0,
            "--activity-map-... needs --activity-map: the number of cells per side");
  refuse_if(options.view && times,
            "--repeat and --warmup are for timing: they cannot be used with --view");
  if (options.float64 && !info.float64)
    refuse("--precision", "double", info.name,
           " computes in float32; README.md lists the steps with float64");
  refuse_if(!info.approximation && (theta || multipole), theta ? "--theta" : "--multipole",
            " is not allowed; ", info.name,
            " computes the direct sum; README.md lists the steps with a tree");
  refuse_if(rebuild_every && !(info.approximation && info.approximation->rebuild_every),
            "--rebuild-every is not allowed; ", info.name,
            " keeps no tree; README.md lists the steps that do");
  // A state that is recorded ends a call of simulate(), and the next call begins with a new tree.
  for (const auto& [asked, option] : {std::pair(options.snapshot_every, "--snapshot-every"),
                                      {options.diagnostics_every, "--diagnostics-every"},
                                      {options.activity_map_every, "--activity-map-every"}})
    if (asked % rebuild_every.value_or(1) != 0)
      refuse(option, asked, "a multiple of --rebuild-every, which is ", *rebuild_every);
  refuse_if(order && !(info.approximation && info.approximation->order), "--order is not allowed; ",
            info.name, " expands no forces in series; README.md lists the steps that do");
  refuse_if(force_tolerance && !(info.approximation && info.approximation->force_tolerance),
            "--force-tolerance is not allowed; ", info.name,
            " compares no error with the force; README.md lists the steps that do");
  if (force_tolerance && *force_tolerance > kMaxForceTolerance)
    refuse("--force-tolerance", shortest(*force_tolerance), kForceToleranceAllowed);
  if (theta && *theta > kMaxTheta) refuse("--theta", shortest(*theta), kThetaAllowed);
  refuse_if(options.distribute != Distribution::automatic && !info.cluster,
            "--distribute needs a cluster's ranks; there are none in ", info.name,
            "; README.md lists the steps with ranks");
  if (options.devices > 1 && !info.multi_device)
    refuse("--devices", options.devices, info.name, " uses one device");
}

}  // namespace

std::optional<Options> parse_options(const StepInfo& info, int argc, char** argv) {
  constexpr int most = std::numeric_limits<int>::max();
  Options options;
  options.program = info.name;
  std::optional<double> theta, force_tolerance;
  std::optional<int> multipole, order, rebuild_every;
  CommandLine parser(info.name, "All-pairs gravity: " + std::string(info.name));
  parser.text("--input", options.input,
              "read the bodies from a CSV, BIN, Tipsy, Gadget 1 or 2 or raw file");
  parser.species("--species", options.species,
                 "species to simulate, ignoring all other bodies: dark,star [all]");
  parser.text("--scenario", options.scenario,
              "initial condition: " + scenario_names() + " [galaxies]");
  parser.whole("--systems", options.systems, 1, most,
               "number of independent systems [the scenario's]");
  parser.whole("--bodies", options.bodies, 1, most,
               "number of bodies in each system [the scenario's]");
  parser.seed("--seed", options.seed, "seed of the initial conditions [1]");
  parser.whole(
      "--steps", options.steps, 0, most,
      "total time steps; 0: only diagnostics and forces at the start [the scenario's, or 20]");
  parser.real("--dt", options.dt, 1e-30, "a number from 1e-30 to 3.4e38, or its negative",
              "length of a time step; negative: the run goes backwards", CommandLine::Sign::either);
  parser.real(
      "--softening", options.softening, 1e-12,
      "a number from 1e-12 to 3.4e38 (below that the cube of the inverse distance of a body "
      "to itself overflows float32)",
      "Plummer softening length");
  parser.choice<Integrator>(
      "--integrator", options.integrator,
      {{"euler", Integrator::euler}, {"leapfrog", Integrator::leapfrog}},
      "first or second order [leapfrog; with --input: as in the file, else euler]");
  parser.choice<bool>("--precision", options.float64, {{"single", false}, {"double", true}},
                      "precision of state and arithmetic (double: not in all steps) [single]");
  parser.real("--theta", theta, 0, kThetaAllowed,
              "opening angle: a node acts as one body if radius / distance is below this;"
              " 0: the direct sum (steps with a tree)");
  parser.choice<int>("--multipole", multipole, {{"0", 0}, {"2", 2}},
                     "moments of a node: 0 mass only, 2 mass and quadrupole (steps with a tree)");
  parser.real("--force-tolerance", force_tolerance, 0, kForceToleranceAllowed,
              "error limit for a node, relative to the force on a body (some steps with a tree)");
  parser.choice<int>("--order", order, {{"2", 2}, {"3", 3}, {"4", 4}, {"5", 5}},
                     "order of the series of a group's acceleration (steps with series) [3]");
  parser.whole("--rebuild-every", rebuild_every, 1, most,
               "time steps from one build of the tree to the next (steps with a tree) [1]");
  parser.whole("--devices", options.devices, 1, 64, "devices to use");
  parser.choice<Distribution>("--distribute", options.distribute,
                              {{"auto", Distribution::automatic},
                               {"systems", Distribution::systems},
                               {"bodies", Distribution::bodies}},
                              "give each rank of a cluster whole systems, or some bodies of every "
                              "system [auto]");
  parser.text("--output", options.output, "final state: .csv, .bin, .tipsy or .raw");
  parser.whole("--snapshot-every", options.snapshot_every, 1, most, "time steps between snapshots");
  parser.text("--snapshot-dir", options.snapshot_folder, "existing folder for snapshot_*.bin");
  parser.text("--diagnostics", options.diagnostics,
              "CSV of energy, momentum and radii: at the start, at every snapshot, at the end");
  parser.whole("--diagnostics-every", options.diagnostics_every, 1, most,
               "time steps between rows of --diagnostics [as many as between snapshots]");
  parser.flag("--diagnostics-exact", options.diagnostics_exact,
              "sum the potential over all pairs, even for more than 100,000 bodies");
  parser.whole("--activity-map", options.activity_map, 1, kMaxActivityCells,
               "histogram of the final state's x-y positions in N x N cells");
  parser.whole("--activity-map-every", options.activity_map_every, 1, most,
               "add every N-th step to the map, not only the final state");
  parser.real(
      "--activity-map-extent", options.activity_map_extent, 1e-30, "a number from 1e-30 to 3.4e38",
      "half the side of the map, centred on the origin [large enough for 95 % of the initial "
      "bodies]");
  parser.text("--activity-map-file", options.activity_map_name,
              "write the map to NAME.csv and NAME.pgm [activity_map]");
  parser.text("--checkpoint", options.checkpoint,
              "continue from this file if it exists; write it at every snapshot, every few seconds "
              "and at the end");
  parser.flag("--restart", options.restart, "start anew and replace an existing --checkpoint");
  parser.text("--resume", options.resume, "continue from another checkpoint to --steps");
  parser.flag("--resume-anyway", options.resume_anyway,
              "also resume from a snapshot or another program's checkpoint; the last bits of the "
              "result will differ");
  parser.whole("--repeat", options.repeat, 1, 100000, "timed runs, from the same start [1]");
  parser.whole("--warmup", options.warmup, 0, 100000, "runs before the timed ones [0]");
  parser.choice<ValidationMode>("--validate", options.validate,
                                {{"auto", ValidationMode::automatic},
                                 {"full", ValidationMode::full},
                                 {"sampled", ValidationMode::sampled},
                                 {"off", ValidationMode::off}},
                                "check the result against float64");
  parser.whole("--force-error", options.force_error, 1, most,
               "report the initial force errors of this many bodies: RMS, median, 99 %, 99.9 %");
  parser.text("--json", options.json, "result record, one line of JSON");
  parser.text("--timeline", options.timeline,
              "CSV of the upload, computation and download times per system (steps with streams)");
  parser.text("--tuned", options.tuned,
              "table of kernel shapes that ./nbody tune wrote (steps with tuned shapes) "
              "[~/.config/nbody-steps/shapes.json]");
  parser.whole("--view", options.view, 0, 65535,
               "show the run in a browser, on this port of 127.0.0.1 (0: any free port)");
  parser.flag(
      "--strict", options.strict,
      "exit with code 1 unless the run is physically plausible: energy, close pairs, rounding");
  parser.flag("--quiet", options.quiet, "print nothing but errors");
  if (!parser.parse(argc, argv)) return std::nullopt;
  check_combinations(info, options, theta, multipole, force_tolerance, order, rebuild_every);
  options.approximation = info.approximation;
  if (theta) options.approximation->theta = static_cast<float>(*theta);
  if (multipole) options.approximation->multipole = *multipole;
  if (force_tolerance)
    options.approximation->force_tolerance = static_cast<float>(*force_tolerance);
  if (order) options.approximation->order = order;
  if (rebuild_every) options.approximation->rebuild_every = rebuild_every;
  return options;
}

}  // namespace nbody
