// The command line of the experiment, which prints a JSON record for each kind of sum and each
// number of bodies.
#include <cmath>
#include <cstdio>

#include "experiments/emulated.h"
#include "experiments/records.h"
#include "production_sums.h"
#include "run/program.h"
#include "scenarios/initial_conditions.h"

namespace {

using namespace production;
using experiments::Json;

constexpr double kSoftening = 0.05;
constexpr double kMaxError = 1e-5;

// The numbers of bodies, unless --bodies gives others. An emulated pass takes seconds.
const std::vector<int> kOnGpu{16384, 65536, 262144}, kEmulated{2048, 4096};

struct Options {
  std::vector<int> bodies;
  int compared = 1024;
  int repeat = 10;
  int warmup = 2;
  std::string json;
};

// Returns false after --help.
bool parse(int argc, char** argv, Options& options) {
  nbody::CommandLine line("production_sums", "Accelerations with potentials and with jerks");
  const std::string sizes =
      "numbers of bodies, separated by commas [16384,65536,262144; emulated: 2048,4096]";
  line.option("--bodies", "NAME", sizes, [&](const std::string& text) {
    options.bodies = experiments::whole_numbers("--bodies", text, 2, 10000000);
  });
  line.whole("--compare", options.compared, 1, 10000000,
             "bodies whose sums are compared with float64 [1024]");
  line.whole("--repeat", options.repeat, 1, 1000, "timed passes [10]");
  line.whole("--warmup", options.warmup, 0, 1000, "untimed passes before the timed ones [2]");
  line.text("--json", options.json, "file for the records, one per line");
  return line.parse(argc, argv);
}

// Prints a note if there is no GPU, because the sizes then differ from the tables' sizes.
std::vector<int> default_bodies() {
  if (platform().backend != "hostcuda") return kOnGpu;
  std::printf("No GPU: %d and %d bodies instead of %d, %d and %d (see --bodies).\n", kEmulated[0],
              kEmulated[1], kOnGpu[0], kOnGpu[1], kOnGpu[2]);
  return kEmulated;
}

Json number_or_null(bool there, double x) { return there && std::isfinite(x) ? Json(x) : Json(); }

Json record_of(const Kind& kind, int bodies, const Pass& pass, const Errors& errors) {
  Json record = experiments::record_of(
      "production_sums", platform(),
      {{"sums", kind.name}, {"bodies", bodies}, {"softening", kSoftening}}, pass.seconds);
  const double seconds = record["median"].get<double>();
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
  experiments::Records records(options.json);
  platform();  // throws if there is no device
  if (options.bodies.empty()) options.bodies = default_bodies();
  for (const int n : options.bodies) {
    const auto bodies =
        nbody::make_scenario(nbody::find_scenario("plummer"), {1, n, 1, kSoftening}).systems.bodies;
    for (const Kind& kind : all_kinds()) {
      const Pass pass = sum(kind, bodies, kSoftening, options.warmup, options.repeat);
      const Errors found = errors(kind, bodies, kSoftening, pass.sums, options.compared);
      const Json record = record_of(kind, n, pass, found);
      records.add(record);
      std::printf("%8d bodies  %-28s %8.1f G/s  errors %.1e, jerk %.1e, potential %.1e  %s%s\n", n,
                  kind.name.c_str(), 1e-9 * record["interactions_per_second"].get<double>(),
                  found.acceleration, found.jerk, found.potential,
                  record["verdict"].get<std::string>().c_str(),
                  experiments::emulated_mark(platform()));
      std::fflush(stdout);
    }
  }
  return records.all_pass() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::run_program("production_sums", [&] { return run(argc, argv); });
}
