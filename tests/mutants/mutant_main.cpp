#include "mutant_main.h"

#include <cstdlib>
#include <cstring>
#include <iostream>

#include "io/write_whole_file.h"
#include "run/job.h"
#include "weak_checks.h"

namespace nbody::test {
namespace {

std::string word(bool passed) { return passed ? "\"pass\"" : "\"fail\""; }

void write_weak_checks(const std::filesystem::path& path, const WeakChecks& checks) {
  write_whole_file(path, [&](std::ostream& file) {
    file << "{\"one_short_step\": " << word(checks.one_short_step)
         << ", \"a_quarter\": " << word(checks.a_quarter)
         << ", \"blind_to_nan\": " << word(checks.blind_to_nan)
         << ", \"throughput\": " << word(checks.throughput) << "}\n";
  });
}

}  // namespace

int run_mutant(const StepInfo& info, Simulate simulate, QueryDevice query, int argc, char** argv) {
  const int code = run_step(info, simulate, query, argc, argv);
  const auto options = parse_options(info, argc, argv);
  const char* const weak = std::getenv("NBODY_WEAK_CHECKS");
  // If there is no record, the run ended before its validation, so weak checks are skipped, too.
  if (!weak || !std::filesystem::exists(options->json)) return code;
  Job job = prepare_job(*options);
  job.run.devices = info.multi_device ? query().count : 1;
  write_weak_checks(weak, weak_checks(job, simulate));
  return code;
}

int main_of(std::initializer_list<Variant> variants, int argc, char** argv) {
  for (const Variant& variant : variants) {
    if (argc > 1 && std::strcmp(argv[1], variant.name) == 0) {
      return variant.main(argc - 1, argv + 1);
    }
  }
  std::cerr << "usage: " << argv[0] << " VARIANT [option of a step...]; the variants are\n";
  for (const Variant& variant : variants) std::cerr << "  " << variant.name << '\n';
  return 2;
}

}  // namespace nbody::test
