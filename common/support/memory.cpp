#include "support/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "support/text.h"

namespace nbody {
namespace {

namespace fs = std::filesystem;

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

// Returns the lowest limit of a control group and of the groups that contain it. A file that does
// not exist or contains "max" sets no limit.
std::uint64_t least_limit(fs::path group, const fs::path& hierarchy, const char* file) {
  for (std::uint64_t least = kUnlimited, limit = 0;; group = group.parent_path()) {
    if (std::ifstream(hierarchy / group.relative_path() / file) >> limit)
      least = std::min(least, limit);
    if (!group.has_relative_path()) return least;
  }
}

// Returns the part of the limit that the program does not use yet. Libraries, and the stacks of
// threads, take tens of megabytes each.
std::uint64_t address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::uint64_t used = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur - std::min<std::uint64_t>(used, limit.rlim_cur);
}

std::string gigabytes(std::uint64_t bytes) {
  return format("%.3g GB", static_cast<double>(bytes) * 1e-9);
}

}  // namespace

// Each line of the file `groups` is ID:CONTROLLERS:GROUP. In version 2 of control groups, there is
// one line, without controllers; in version 1, this function uses the line of the controller
// "memory". Inside a container, a line may give the name that the group has outside, and no files
// exist for that name. Then the limit of the container is the limit of the root group.
std::uint64_t control_group_limit(const fs::path& groups, const fs::path& hierarchies) {
  std::uint64_t least = kUnlimited;
  const auto look = [&](const fs::path& group, const fs::path& hierarchy, const char* file) {
    least = std::min(least, least_limit(group, hierarchies / hierarchy, file));
  };
  look("/", "", "memory.max");
  look("/", "memory", "memory.limit_in_bytes");
  std::ifstream lines(groups);
  for (std::string id, controllers, group; std::getline(lines, id, ':') &&
                                           std::getline(lines, controllers, ':') &&
                                           std::getline(lines, group);) {
    if (controllers.empty()) {
      look(group, "", "memory.max");
      look(group, "unified", "memory.max");  // needed if both versions are mounted
    } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      look(group, "memory", "memory.limit_in_bytes");
    }
  }
  return least;
}

std::uint64_t available_memory() {
  return std::min({machine(), control_group_limit(), address_space()});
}

void require_memory(const std::string& what, std::uint64_t bytes) {
  const std::uint64_t available = available_memory();
  if (bytes > available)
    throw std::runtime_error(what + " needs about " + gigabytes(bytes) + " of memory; " +
                             gigabytes(available) + " are available");
}

}  // namespace nbody
