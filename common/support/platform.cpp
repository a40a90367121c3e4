#include "support/platform.h"

#include <omp.h>

#include <fstream>

#include "nbody/error.h"

namespace nbody {
namespace {

// From the system, e.g. the "model name" of /proc/cpuinfo.
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

}  // namespace

Platform platform_of(const FoundDevice& device) {
  if (device.count == 0) throw NoDevice(std::string("no CUDA device: ") + device.missing);
  Platform platform{
      device.backend,          device.name,  device.count,      version(device.driver),
      version(device.runtime), device.flags, device.lock_pages, device.unlock_pages};
  if (platform.backend == "hostcuda") platform.device_name += " on " + cpu_name();
  if (platform.backend == "cpu")
    platform.device_name = cpu_name() + " x " + std::to_string(omp_get_max_threads());
  return platform;
}

}  // namespace nbody
