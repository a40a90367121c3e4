// Checks how much memory is available before much of it is allocated. Linux promises memory that it
// does not have, so without the check an absurd size would get the process killed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace nbody {

// Returns the bytes that this process can expect to get, the least of three: the memory that the
// machine has free or can free, the limit of the process's control group (a container, for
// example), and the limit of its address space (ulimit -v).
std::uint64_t available_memory();

// Returns only the limit that control groups set. The arguments let tests name other files.
std::uint64_t control_group_limit(const std::filesystem::path& groups = "/proc/self/cgroup",
                                  const std::filesystem::path& hierarchies = "/sys/fs/cgroup");

// Throws runtime_error, with the purpose, the size and the available memory, if there is less.
void require_memory(const std::string& what, std::uint64_t bytes);

}  // namespace nbody
