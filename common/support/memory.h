// Checks how much memory is available before a program allocates much. Linux allows allocations
// that exceed the memory, so without this check it would kill a process that asks for an absurd
// size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace nbody {

// Returns the number of bytes that this process can expect to get, which is the smallest of three:
// the memory that the machine has free or can free, the limit of the process's control group (a
// container, for example), and the limit of its address space (ulimit -v).
std::uint64_t available_memory();

// Returns only the limit that control groups set. The arguments let tests name other files.
std::uint64_t control_group_limit(const std::filesystem::path& groups = "/proc/self/cgroup",
                                  const std::filesystem::path& hierarchies = "/sys/fs/cgroup");

// Throws runtime_error, with the purpose, the size and the available memory, if less than `bytes`
// is available.
void require_memory(const std::string& what, std::uint64_t bytes);

}  // namespace nbody
