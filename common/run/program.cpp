#include "run/program.h"

#include <omp.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <new>
#include <string>
#include <system_error>

#include "nbody/error.h"
#include "support/threads.h"

namespace nbody {

int run_program(std::string_view name, const std::function<int()>& work) {
  const auto say = [name](const char* what, int code) {
    std::cerr << name << ": " << what << '\n';
    return code;
  };
  // A file that grows over the limit of ulimit -f then fails to be written, as on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    require_threads(omp_get_max_threads());
  } catch (const std::runtime_error& error) {
    // Not by a return: OpenBLAS, short of address space, would wait for its own threads for ever.
    std::_Exit(say(error.what(), kFailed));
  }
  try {
    return work();
  } catch (const UsageError& error) {
    return say(error.what(), kUsage);
  } catch (const NoDevice& error) {
    const char* required = std::getenv("NBODY_REQUIRE_GPU");
    return say(error.what(),
               required != nullptr && std::string_view(required) == "1" ? kFailed : kNoDevice);
  } catch (const std::bad_alloc&) {
    return say("out of memory", kFailed);
  } catch (const std::system_error& error) {
    const bool is_thread = error.code() == std::errc::resource_unavailable_try_again;
    return say(((is_thread ? "cannot start a thread: " : "") + std::string(error.what())).c_str(),
               kFailed);
  } catch (const std::exception& error) {
    return say(error.what(), kFailed);
  }
}

}  // namespace nbody
