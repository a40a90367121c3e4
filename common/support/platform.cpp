#include "support/platform.h"

#include <omp.h>

#include <filesystem>
#include <fstream>

#include "nbody/error.h"

namespace nbody {
namespace {

// Returns the name that the system reports, for example the "model name" of /proc/cpuinfo.
std::string cpu_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown CPU";
}

std::string version(int number) {
  if (number == 0) return "";
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

// If this program was built with nvcc in a build folder, returns a hint on how to build it for the
// CPU; otherwise returns "".
std::string program_for_the_cpu(const std::string& backend) {
  namespace fs = std::filesystem;
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  const std::string path = program.string();
  const std::size_t build = path.rfind("/build/");
  if (backend != "cuda" || build == path.npos) return "";
  const std::size_t rest = path.find('/', build + 7);
  if (rest == path.npos) return "";
  return "; on the CPU: ./nbody build " + program.filename().string() + ", then build/cpu" +
         path.substr(rest);
}

}  // namespace

Platform platform_of(const FoundDevice& device) {
  if (device.count == 0)
    throw NoDevice(std::string("no CUDA device: ") + device.missing +
                   program_for_the_cpu(device.backend));
  Platform platform{
      device.backend,          device.name,  device.count,      version(device.driver),
      version(device.runtime), device.flags, device.lock_pages, device.unlock_pages};
  if (platform.backend == "hostcuda") platform.device_name += " on " + cpu_name();
  if (platform.backend == "cpu")
    platform.device_name = cpu_name() + " x " + std::to_string(omp_get_max_threads());
  return platform;
}

}  // namespace nbody
