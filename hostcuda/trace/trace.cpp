#include "trace.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "record.h"
#include "support/config.h"
#include "support/fault.h"

namespace hostcuda::trace {
namespace {

constexpr const char* kVariable = "HOSTCUDA_TRACE";

void write_record() {
  const char* path = std::getenv(kVariable);
  std::ofstream file(path);
  file << record_of(tracer()) << std::flush;
  if (file) return;
  std::fprintf(stderr, "hostcuda: %s: cannot be written\n", path);
  std::_Exit(1);
}

}  // namespace

Tracer& tracer() {
  static auto* instance = new Tracer;  // never destroyed: instrumented code runs until the very end
  return *instance;
}

void start() {
  if (kernel_observer || !std::getenv(kVariable)) return;
  allow_variable(kVariable);
  kernel_observer = &tracer();
  std::atexit(write_record);
  call_before_death(write_record);  // an error of a kernel: what was seen until then counts
}

}  // namespace hostcuda::trace
