// The command line of the experiment. The program runs each variant with each number of bodies and
// each size of the map, and prints one JSON record per run.
#include <cstdio>

#include "check.h"
#include "experiments/emulated.h"
#include "experiments/records.h"
#include "run/program.h"

namespace {

using namespace activity;

struct Options {
  std::vector<std::string> rungs;
  std::vector<int> bodies = {1024};
  std::vector<int> cells = {100};
  int steps = 100;
  int block = 0;  // 0 means the variant's own block size
  int repeat = 1;
  int warmup = 0;
  std::string json;
};

// Returns false after --help.
bool parse(int argc, char** argv, Options& options) {
  nbody::CommandLine line("activity_map",
                          "Two-dimensional gravity with an activity map, optimised in stages");
  line.option("--rung", "NAMES", experiments::names_of(rungs()) + " [all]",
              [&](const std::string& text) {
                options.rungs = experiments::chosen_of("--rung", text, rungs());
              });
  line.option("--bodies", "N", "numbers of bodies, separated by commas [1024]",
              [&](const std::string& text) {
                options.bodies = experiments::whole_numbers("--bodies", text, 1, 1 << 24);
              });
  line.option("--map", "D", "sizes D of the map of D x D cells, separated by commas [100]",
              [&](const std::string& text) {
                options.cells = experiments::whole_numbers("--map", text, 1, 32768);
              });
  line.whole("--steps", options.steps, 1, 1 << 30, "time steps [100]");
  line.option("--block", "N", "threads per block [the variant's]", [&](const std::string& text) {
    const auto value = nbody::parse_whole<int>(text);
    if (!value || *value < 32 || *value > 1024 || *value % 32 != 0) {
      nbody::refuse("--block", text, "a multiple of 32 from 32 to 1024");
    }
    options.block = *value;
  });
  line.whole("--repeat", options.repeat, 1, 1000, "timed runs [1]");
  line.whole("--warmup", options.warmup, 0, 1000, "untimed runs before the timed ones [0]");
  line.text("--json", options.json, "file for the records, one per line");
  return line.parse(argc, argv);
}

nbody::Result measure(const Rung& rung, int block, const Problem& problem, int n,
                      const Options& options) {
  const auto bodies = uniform_bodies(n);
  nbody::Result result;
  result.info = {.name = "activity_map", .parent = ""};
  result.platform = platform();
  if (rung.mode != CpuMode::none) result.platform = cpu_platform();
  result.systems = 1;
  result.bodies_per_system = n;
  result.steps = problem.steps;
  result.dt = problem.dt;
  result.softening = kSoftening;
  result.scenario = "uniform square";
  Outcome outcome;
  for (int k = 0; k < options.warmup + options.repeat; ++k) {
    outcome = simulate(rung, block, problem, bodies);
    if (k >= options.warmup) result.repeats.push_back(outcome.timing);
  }
  result.validation = {check(rung, block, problem, bodies, outcome)};
  return result;
}

int run(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) return 0;
  experiments::Records records(options.json);
  for (const Rung& rung : rungs()) {
    if (!options.rungs.empty() && std::ranges::count(options.rungs, rung.name) == 0) continue;
    for (const int n : options.bodies) {
      for (const int cells : options.cells) {
        const int block = options.block > 0 ? options.block : rung.block;
        const auto result = measure(rung, block, problem_of(cells, options.steps), n, options);
        auto record = experiments::Json::parse(nbody::to_json(result));
        record["rung"] = rung.name;
        record["block"] = block;
        record["cells"] = cells;
        records.add(record);
        const auto& checks = result.validation->checks;
        std::printf(
            "%-20s block %4d  N %6d  D %6d  compute %.6f s  rms %.1e  wrong cells %.0f  %s%s\n",
            std::string(rung.name).c_str(), block, n, cells, median(result.repeats).compute,
            checks[0].value, checks[1].value, result.verdict().c_str(),
            experiments::emulated_mark(result.platform));
        std::fflush(stdout);
      }
    }
  }
  return records.all_pass() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::run_program("activity_map", [&] { return run(argc, argv); });
}
