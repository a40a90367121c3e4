// Reports a program's progress when it is stopped (by Ctrl-C or a time limit), to distinguish a
// slow program from one that hangs.
#ifndef HOSTCUDA_SRC_SUPPORT_PROGRESS_H
#define HOSTCUDA_SRC_SUPPORT_PROGRESS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace hostcuda {

// The number of operating-system threads that may run blocks. Each waiting emulated thread needs
// two memory mappings (stack and guard page), and Linux allows a process 65530 mappings, which is
// enough for 31 blocks of 1024 threads.
constexpr int kMaxTeam = 16;

// The data about the running grid that a signal handler needs. Only one grid runs at a time.
struct Progress {
  struct alignas(64) Count {
    volatile std::uint64_t ended = 0;
  };
  const char* volatile kernel = nullptr;  // null if no kernel is running
  const char* file = nullptr;
  int line = 0;
  std::uint64_t units = 0, blocks_per_unit = 0, launches = 0;
  std::array<Count, kMaxTeam> by_worker;
};
extern Progress grid_progress;

// Sets a function that writes where the running emulated thread last waited, and returns false if
// it does not know the place. A signal handler calls the function.
void tell_waits_with(bool (*name_wait)(char* text, std::size_t size));

// While a WatchedGrid exists, grid_progress says that its kernel is running. A child grid may run
// between two blocks of its parent; afterwards, the parent is running again.
class WatchedGrid {
 public:
  WatchedGrid(const char* kernel, const char* file, int line);
  ~WatchedGrid();
  WatchedGrid(const WatchedGrid&) = delete;
  WatchedGrid& operator=(const WatchedGrid&) = delete;
  // A unit is a block, a cluster, or a whole cooperative grid.
  void consists_of(std::uint64_t units, std::uint64_t blocks_per_unit);

 private:
  std::unique_ptr<Progress> outer_;  // of the parent, null if there is none
};

}  // namespace hostcuda

#endif
