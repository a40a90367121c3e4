// Whether, and for how long, a process is traced.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "support/config.h"
#include "support/fault.h"
#include "tracer.h"

namespace hostcuda::trace {
namespace {

constexpr const char* kVariable = "HOSTCUDA_TRACE";
constexpr const char* kPicture = "HOSTCUDA_TRACE_BLOCK";  // set: also of a block of each kernel

void write_record() {
  const char* path = std::getenv(kVariable);
  std::ofstream file(path);
  file << record_of(*tracer) << std::flush;
  if (file) return;
  std::fprintf(stderr, "hostcuda: %s: cannot be written\n", path);
  std::_Exit(1);
}

}  // namespace

Tracer* tracer;

void start() {
  if (tracer || !std::getenv(kVariable)) return;
  allow_variable(kVariable);
  allow_variable(kPicture);
  tracer = new Tracer;  // never destroyed: instrumented code runs until the very end
  if (std::getenv(kPicture)) tracer->take_picture();
  kernel_observer = tracer;
  runtime_observer = &tracer->host();
  on_exit(
      [](int status, void*) {
        tracer->host().program_ends(status);
        write_record();
      },
      nullptr);
  call_before_death(write_record);  // an error of a kernel: what was seen until then counts
}

}  // namespace hostcuda::trace
