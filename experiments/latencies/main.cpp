// The command line of the experiment: one record of JSON for each latency and shape.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "io/write_whole_file.h"
#include "latencies.h"
#include "run/command_line.h"
#include "run/program.h"
#include "run/result.h"

namespace {

using namespace latencies;
using Json = nlohmann::ordered_json;

struct Options {
  std::vector<std::string> names;
  int operations = 1000;
  int repeat = 30;
  int warmup = 3;
  std::string json;
};

std::vector<std::string> parse_names(const std::string& text, const std::vector<Latency>& all) {
  std::string known;
  for (const Latency& latency : all) {
    if (known.find(latency.name + ',') == std::string::npos) known += latency.name + ", ";
  }
  known.resize(known.size() - 2);
  std::vector<std::string> names;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    if (std::ranges::find(all, part, &Latency::name) == all.end()) {
      nbody::refuse("--latency", part, "one of " + known);
    }
    names.push_back(part);
  }
  return names;
}

// False after --help.
bool parse(int argc, char** argv, Options& options) {
  std::string names;
  nbody::CommandLine line("latencies", "What it costs to start work on a GPU, and to wait for it");
  line.text("--latency", names, "one or several, with commas between them [all]");
  line.whole("--operations", options.operations, 1, 100000,
             "by which the longer of two chains is longer [1000]");
  line.whole("--repeat", options.repeat, 1, 1000, "pairs of chains that are timed [30]");
  line.whole("--warmup", options.warmup, 0, 1000, "pairs before them [3]");
  line.text("--json", options.json, "records, one line each");
  if (!line.parse(argc, argv)) return false;
  if (!options.json.empty()) nbody::require_writable(options.json);
  platform();  // or there is no device
  if (!names.empty()) options.names = parse_names(names, all_latencies());
  return true;
}

// As in the record of a step: revision, date, device, backend, flags.
Json record_of(const Latency& latency, const std::vector<double>& seconds, unsigned wrong,
               const Options& options) {
  nbody::Result result;
  result.info = {.name = "latencies"};
  result.platform = platform();
  for (const double time : seconds) result.repeats.push_back({.compute = time});
  const Json whole = Json::parse(nbody::to_json(result));
  Json record;
  for (const char* key : {"step", "revision", "date", "device", "backend", "flags"}) {
    record[key] = whole[key];
  }
  record["latency"] = latency.name;
  record["blocks"] = latency.shape.blocks;
  record["threads"] = latency.shape.threads;
  record["cluster"] = latency.shape.cluster;
  record["operations"] = options.operations;
  record["repeats"] = seconds;
  record["median"] = whole["median"]["compute"];
  record["iqr"] = whole["iqr"]["compute"];
  record["wrong"] = wrong;
  record["verdict"] = wrong == 0 ? "pass" : "fail";
  return record;
}

int run(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) return 0;
  std::string records;
  bool failed = false;
  for (const Latency& latency : all_latencies()) {
    if (!options.names.empty() && std::ranges::count(options.names, latency.name) == 0) continue;
    const auto chain = latency.make();
    const unsigned wrong = chain->wrong(options.operations);  // before it is timed
    const auto seconds = measure(*chain, options.operations, options.warmup, options.repeat);
    const Json record = record_of(latency, seconds, wrong, options);
    records += record.dump() + '\n';
    if (!options.json.empty()) {
      nbody::write_whole_file(options.json, [&](std::ostream& out) { out << records; });
    }
    std::printf("%-24s %4d blocks of %4d, clusters of %2d: %9.4f us (IQR %.4f)  %s\n",
                latency.name.c_str(), latency.shape.blocks, latency.shape.threads,
                latency.shape.cluster, 1e6 * record["median"].get<double>(),
                1e6 * record["iqr"].get<double>(), wrong == 0 ? "pass" : "FAIL");
    std::fflush(stdout);
    failed |= wrong > 0;
  }
  if (platform().backend == "hostcuda") std::puts("Emulated on a CPU: not GPU times.");
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::run_program("latencies", [&] { return run(argc, argv); });
}
