// The command line of the experiment, which prints one JSON record for each latency and shape.
#include <cstdio>

#include "experiments/emulated.h"
#include "experiments/records.h"
#include "latencies.h"
#include "run/program.h"

namespace {

using namespace latencies;

// A thousand emulated operations take about a minute.
constexpr int kOnGpu = 1000, kEmulated = 100;

struct Options {
  std::string names;
  int operations = 0;  // 0: the default of the platform
  int repeat = 30;
  int warmup = 3;
  std::string json;
};

// Returns false after --help.
bool parse(int argc, char** argv, Options& options) {
  nbody::CommandLine line("latencies",
                          "Measures the cost of starting work on a GPU and of waiting for it");
  line.text("--latency", options.names, "names, separated by commas [all]");
  line.whole("--operations", options.operations, 1, 100000,
             "additional operations in the longer of two chains [1000; emulated: 100]");
  line.whole("--repeat", options.repeat, 1, 1000, "timed pairs of chains [30]");
  line.whole("--warmup", options.warmup, 0, 1000, "untimed pairs before the timed ones [3]");
  line.text("--json", options.json, "file for the records, one per line");
  return line.parse(argc, argv);
}

// Prints a note if there is no GPU, because the chains are then shorter than in the tables.
int default_operations() {
  if (platform().backend != "hostcuda") return kOnGpu;
  std::printf("No GPU: %d operations instead of %d (--operations changes this).\n", kEmulated,
              kOnGpu);
  return kEmulated;
}

experiments::Json record_of(const Latency& latency, const std::vector<double>& seconds,
                            unsigned wrong, const Options& options) {
  auto record = experiments::record_of("latencies", platform(),
                                       {{"latency", latency.name},
                                        {"blocks", latency.shape.blocks},
                                        {"threads", latency.shape.threads},
                                        {"cluster", latency.shape.cluster},
                                        {"operations", options.operations}},
                                       seconds);
  record["wrong"] = wrong;
  record["verdict"] = wrong == 0 ? "pass" : "fail";
  return record;
}

int run(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) return 0;
  experiments::Records records(options.json);
  platform();  // throws if there is no device
  if (options.operations == 0) options.operations = default_operations();
  const auto all = all_latencies();
  const auto names = experiments::chosen_of("--latency", options.names, all);
  for (const Latency& latency : all) {
    if (!names.empty() && std::ranges::count(names, latency.name) == 0) continue;
    const auto chain = latency.make();
    const unsigned wrong = chain->wrong(options.operations);  // the check comes before the timing
    const auto seconds = measure(*chain, options.operations, options.warmup, options.repeat);
    const auto record = record_of(latency, seconds, wrong, options);
    records.add(record);
    std::printf("%-24s %4d blocks of %4d, clusters of %2d: %9.4f us (IQR %.4f)  %s%s\n",
                latency.name.c_str(), latency.shape.blocks, latency.shape.threads,
                latency.shape.cluster, 1e6 * record["median"].get<double>(),
                1e6 * record["iqr"].get<double>(), wrong == 0 ? "pass" : "FAIL",
                experiments::emulated_mark(platform()));
    std::fflush(stdout);
  }
  return records.all_pass() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::run_program("latencies", [&] { return run(argc, argv); });
}
