// Checks how much memory there is before much of it is allocated: Linux promises memory that it
// does not have, so that an absurd size would otherwise end in a killed process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace nbody {

// Bytes that this process can expect to get: the lowest of the memory that the machine has free or
// can free, the limit of its control group (a container's) and the limit of its address space
// (ulimit -v).
std::uint64_t available_memory();

// The part of that limit that control groups set. Tests name other files.
std::uint64_t control_group_limit(const std::filesystem::path& groups = "/proc/self/cgroup",
                                  const std::filesystem::path& hierarchies = "/sys/fs/cgroup");

// Throws runtime_error, whose message names the purpose, the size needed and the memory there is.
void require_memory(const std::string& what, std::uint64_t bytes);

}  // namespace nbody
