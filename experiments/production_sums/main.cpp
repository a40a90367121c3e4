// The command line of the experiment: one record of JSON for each kind of sum and number of bodies.
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "io/write_whole_file.h"
#include "production_sums.h"
#include "run/command_line.h"
#include "run/program.h"
#include "run/result.h"
#include "scenarios/initial_conditions.h"

namespace {

using namespace production;
using Json = nlohmann::ordered_json;

constexpr double kSoftening = 0.05;
constexpr double kMaxError = 1e-5;

struct Options {
  std::vector<int> bodies{16384, 65536, 262144};
  int compared = 1024;
  int repeat = 10;
  int warmup = 2;
  std::string json;
};

std::vector<int> parse_sizes(const std::string& text) {
  std::vector<int> sizes;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const auto size = nbody::parse_whole<long long>(part);
    if (!size || *size < 2 || *size > 10000000)
      nbody::refuse("--bodies", part, "whole numbers from 2 to 10000000");
    sizes.push_back(static_cast<int>(*size));
  }
  return sizes;
}

// False after --help.
bool parse(int argc, char** argv, Options& options) {
  std::string sizes;
  nbody::CommandLine line("production_sums", "Accelerations with potentials and with jerks");
  line.text("--bodies", sizes, "of a Plummer sphere, one number or several [16384,65536,262144]");
  line.whole("--compare", options.compared, 1, 10000000,
             "bodies whose sums are compared with float64 [1024]");
  line.whole("--repeat", options.repeat, 1, 1000, "passes that are timed [10]");
  line.whole("--warmup", options.warmup, 0, 1000, "passes before them [2]");
  line.text("--json", options.json, "records, one line each");
  if (!line.parse(argc, argv)) return false;
  if (!sizes.empty()) options.bodies = parse_sizes(sizes);
  if (!options.json.empty()) nbody::require_writable(options.json);
  platform();  // or there is no device
  return true;
}

Json number_or_null(bool there, double x) { return there && std::isfinite(x) ? Json(x) : Json(); }

// As in the record of a step: revision, date, device, backend, flags, median, iqr.
Json record_of(const Kind& kind, int bodies, const Pass& pass, const Errors& errors) {
  nbody::Result result;
  result.info = {.name = "production_sums"};
  result.platform = platform();
  for (const double time : pass.seconds) result.repeats.push_back({.compute = time});
  const Json whole = Json::parse(nbody::to_json(result));
  Json record;
  for (const char* key : {"step", "revision", "date", "device", "backend", "flags"}) {
    record[key] = whole[key];
  }
  const double seconds = whole["median"]["compute"].get<double>();
  record["sums"] = kind.name;
  record["bodies"] = bodies;
  record["softening"] = kSoftening;
  record["repeats"] = pass.seconds;
  record["median"] = seconds;
  record["iqr"] = whole["iqr"]["compute"];
  record["interactions_per_second"] = static_cast<double>(bodies) * bodies / seconds;
  record["errors"] = {{"acceleration", number_or_null(true, errors.acceleration)},
                      {"jerk", number_or_null(kind.jerk, errors.jerk)},
                      {"potential", number_or_null(kind.potential, errors.potential)}};
  const bool right =
      errors.acceleration <= kMaxError && errors.jerk <= kMaxError && errors.potential <= kMaxError;
  record["verdict"] = right ? "pass" : "fail";
  return record;
}

int run(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) return 0;
  std::string records;
  bool failed = false;
  for (const int n : options.bodies) {
    const auto bodies =
        nbody::make_scenario(nbody::find_scenario("plummer"), {1, n, 1, kSoftening}).systems.bodies;
    for (const Kind& kind : all_kinds()) {
      const Pass pass = sum(kind, bodies, kSoftening, options.warmup, options.repeat);
      const Errors found = errors(kind, bodies, kSoftening, pass.sums, options.compared);
      const Json record = record_of(kind, n, pass, found);
      records += record.dump() + '\n';
      if (!options.json.empty()) {
        nbody::write_whole_file(options.json, [&](std::ostream& out) { out << records; });
      }
      std::printf("%8d bodies  %-28s %8.1f G/s  errors %.1e, jerk %.1e, potential %.1e  %s\n", n,
                  kind.name.c_str(), 1e-9 * record["interactions_per_second"].get<double>(),
                  found.acceleration, found.jerk, found.potential,
                  record["verdict"].get<std::string>().c_str());
      std::fflush(stdout);
      failed |= record["verdict"] == "fail";
    }
  }
  if (platform().backend == "hostcuda") std::puts("Emulated on a CPU: not GPU times.");
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::run_program("production_sums", [&] { return run(argc, argv); });
}
