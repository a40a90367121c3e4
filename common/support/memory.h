// Checks how much memory there is before much of it is allocated: Linux promises memory that it
// does not have, so that an absurd size would otherwise end in a killed process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace nbody {

// Bytes that this process can expect to get. This is the least of three: the memory that the
// machine has free or can free, the limit of the process's control group (a container, for
// example), and the limit of its address space (ulimit -v).
std::uint64_t available_memory();

// Returns only the limit that control groups set. The arguments let tests name other files.
std::uint64_t control_group_limit(const std::filesystem::path& groups = "/proc/self/cgroup",
                                  const std::filesystem::path& hierarchies = "/sys/fs/cgroup");

// Throws runtime_error if there is less memory; it names the purpose, the size and what there is.
void require_memory(const std::string& what, std::uint64_t bytes);

}  // namespace nbody
