// The command line of the experiment: rungs x numbers of bodies x sizes of the map, one record of
// JSON for each.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "check.h"
#include "nbody/error.h"
#include "nbody/input_output.h"
#include "nbody/result.h"

namespace {

using namespace activity;

struct Options {
  std::vector<std::string> rungs;
  std::vector<int> bodies = {1024};
  std::vector<int> cells = {100};
  int steps = 100;
  int block = 0;  // 0: the rung's own
  int repeat = 1;
  int warmup = 0;
  std::string json;
};

// False after --help.
bool parse(int argc, char** argv, Options& options) {
  CLI::App app("Two-dimensional gravity with an activity map, optimised rung by rung",
               "activity_map");
  std::string names;
  for (const Rung& rung : rungs()) names += (names.empty() ? "" : ", ") + std::string(rung.name);
  const auto one_of_rungs = [&](const std::string& name) {
    for (const Rung& rung : rungs()) {
      if (rung.name == name) return std::string();
    }
    return "\"" + name + "\" is not allowed; one of " + names;
  };
  const auto whole_blocks = [](const std::string& text) {
    return std::stoi(text) % 32 == 0 ? std::string() : "\"" + text + "\" is no multiple of 32";
  };
  app.add_option("--rung", options.rungs, names + " [all]")->delimiter(',')->check(one_of_rungs);
  app.add_option("--bodies", options.bodies, "N, one or several [1024]")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 24));
  app.add_option("--map", options.cells, "D, one or several: D x D cells [100]")
      ->delimiter(',')
      ->check(CLI::Range(1, 32768));
  app.add_option("--steps", options.steps, "time steps [100]")->check(CLI::Range(1, 1 << 30));
  app.add_option("--block", options.block, "threads of a block [the rung's]")
      ->check(CLI::Range(32, 1024))
      ->check(whole_blocks);
  app.add_option("--repeat", options.repeat, "timed runs [1]")->check(CLI::Range(1, 1000));
  app.add_option("--warmup", options.warmup, "runs before them [0]")->check(CLI::Range(0, 1000));
  app.add_option("--json", options.json, "records, one line each");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    app.exit(success);
    return false;
  } catch (const CLI::ParseError& error) {
    std::string line = error.what();
    for (char& c : line) c = c == '\n' ? ' ' : c;
    throw nbody::UsageError(line);
  }
  if (options.rungs.empty()) {
    for (const Rung& rung : rungs()) options.rungs.emplace_back(rung.name);
  }
  if (!options.json.empty()) nbody::require_writable(options.json);
  return true;
}

nbody::Result measure(const Rung& rung, int block, const Problem& problem, int n,
                      const Options& options) {
  const auto bodies = uniform_bodies(n);
  nbody::Result result;
  result.info = {.name = "activity_map", .parent = ""};
  result.platform = platform();
  result.systems = 1;
  result.bodies = n;
  result.steps = problem.steps;
  result.dt = problem.dt;
  result.softening = kSoftening;
  result.scenario = "uniform square";
  Outcome outcome;
  for (int k = 0; k < options.warmup + options.repeat; ++k) {
    outcome = simulate(rung, block, problem, bodies);
    if (k >= options.warmup) result.repeats.push_back(outcome.timing);
  }
  result.gates = check(rung, block, problem, bodies, outcome);
  result.verdict = "pass";
  for (const nbody::Gate& gate : result.gates) {
    if (!gate.passed()) result.verdict = "fail";
  }
  return result;
}

int run(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) return 0;
  std::string records;
  bool failed = false;
  for (const Rung& rung : rungs()) {
    if (std::find(options.rungs.begin(), options.rungs.end(), rung.name) == options.rungs.end()) {
      continue;
    }
    for (const int n : options.bodies) {
      for (const int cells : options.cells) {
        const int block = options.block > 0 ? options.block : rung.block;
        const auto result = measure(rung, block, problem_of(cells, options.steps), n, options);
        auto record = nlohmann::ordered_json::parse(nbody::to_json(result));
        record["rung"] = rung.name;
        record["block"] = block;
        record["cells"] = cells;
        records += record.dump() + '\n';
        if (!options.json.empty()) {
          nbody::write_whole_file(options.json, [&](std::ostream& out) { out << records; });
        }
        std::printf(
            "%-20s block %4d  N %6d  D %6d  compute %.6f s  rms %.1e  wrong cells %.0f  %s\n",
            std::string(rung.name).c_str(), block, n, cells, median(result.repeats).compute,
            result.gates[0].value, result.gates[1].value, result.verdict.c_str());
        std::fflush(stdout);
        failed |= result.verdict != "pass";
      }
    }
  }
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto say = [](const char* what) { std::cerr << "activity_map: " << what << '\n'; };
  try {
    return run(argc, argv);
  } catch (const nbody::UsageError& error) {
    say(error.what());
    return 2;
  } catch (const nbody::NoDevice& error) {
    say(error.what());
    return 77;
  } catch (const std::exception& error) {
    say(error.what());
    return 1;
  }
}
