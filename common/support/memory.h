// Checks how much memory is available before a program allocates a large amount. Linux allows
// allocations that exceed the memory. So without this check, Linux would kill a process that asks
// for an absurd size, but only later, when the process uses the memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace nbody {

// Returns the number of bytes that this process can expect to get. This is the smallest of three
// values: the memory that the machine has free or can free, the limit of the process's control
// group (a container, for example), and the limit of the process's address space (ulimit -v).
std::uint64_t available_memory();

// Returns the limit that the control groups set. Tests pass other files as arguments.
std::uint64_t control_group_limit(const std::filesystem::path& groups = "/proc/self/cgroup",
                                  const std::filesystem::path& hierarchies = "/sys/fs/cgroup");

// Throws runtime_error, with the purpose, the size and the available memory, if less than `bytes`
// is available.
void require_memory(const std::string& what, std::uint64_t bytes);

}  // namespace nbody
