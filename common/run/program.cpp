#include "run/program.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <new>
#include <string>

#include "nbody/device.h"
#include "nbody/error.h"

namespace nbody {

int run_program(std::string_view name, const std::function<int()>& work) {
  const auto say = [name](const char* what, int code) {
    std::cerr << name << ": " << what << '\n';
    return code;
  };
  // A file that grows over the limit of ulimit -f then fails to be written, as on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
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
  } catch (const std::exception& error) {
    return say(error.what(), kFailed);
  }
}

std::string cpu_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown CPU";
}

}  // namespace nbody
