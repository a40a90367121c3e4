// How much memory there is, checked before much of it is allocated: Linux promises memory that it
// does not have, so that an absurd size would otherwise end in a killed process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace nbody {

// Bytes this process can expect to get: what the machine has free or can free, the limit of its
// control group (a container's) or the limit of its address space (ulimit -v), whichever is least.
std::uint64_t available_memory();

// The part of it that control groups allow. Tests name other files.
std::uint64_t control_group_limit(const std::filesystem::path& groups = "/proc/self/cgroup",
                                  const std::filesystem::path& hierarchies = "/sys/fs/cgroup");

// Throws runtime_error, which says what needs how much, and how much there is.
void require_memory(const std::string& what, std::uint64_t bytes);

}  // namespace nbody
