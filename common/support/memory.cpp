#include "support/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <stdexcept>

namespace nbody {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

std::uint64_t machine() {
  std::ifstream meminfo("/proc/meminfo");
  std::string key, unit;
  for (std::uint64_t kilobytes = 0; meminfo >> key >> kilobytes && std::getline(meminfo, unit);)
    if (key == "MemAvailable:") return kilobytes * 1024;
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page)
             : kUnlimited;
}

// A container sees its own control group as the root. Version 2, then version 1; a file that does
// not exist or says "max" sets no limit.
std::uint64_t control_group() {
  std::uint64_t least = kUnlimited;
  for (const char* file :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::uint64_t limit = 0;
    if (std::ifstream(file) >> limit) least = std::min(least, limit);
  }
  return least;
}

std::uint64_t address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  return limit.rlim_cur;
}

std::string gigabytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g GB", static_cast<double>(bytes) * 1e-9);
  return text;
}

}  // namespace

std::uint64_t available_memory() { return std::min({machine(), control_group(), address_space()}); }

void require_memory(const std::string& what, std::uint64_t bytes) {
  const std::uint64_t available = available_memory();
  if (bytes > available)
    throw std::runtime_error(what + " needs about " + gigabytes(bytes) + " of memory; " +
                             gigabytes(available) + " are available");
}

}  // namespace nbody
