// How far a program has come: said when it is stopped (Ctrl-C, a time limit), so that what is only
// slow can be told from what hangs.
#ifndef HOSTCUDA_SRC_SUPPORT_PROGRESS_H
#define HOSTCUDA_SRC_SUPPORT_PROGRESS_H

#include <array>
#include <cstdint>

namespace hostcuda {

// Operating-system threads that run blocks. Each emulated thread that waits needs two memory
// mappings (stack and guard), and Linux allows a process 65530: that is 31 blocks of 1024 threads.
constexpr int kMaxTeam = 16;

// What a signal handler reads while it runs: of one grid at a time.
struct Progress {
  struct alignas(64) Count {
    volatile std::uint64_t ended = 0;
  };
  const char* volatile kernel = nullptr;  // null: none runs
  const char* file = nullptr;
  int line = 0;
  std::uint64_t units = 0, blocks_per_unit = 0, launches = 0;
  std::array<Count, kMaxTeam> by_worker;
};
extern Progress grid_progress;

// While it lives the grid runs.
class WatchedGrid {
 public:
  WatchedGrid(const char* kernel, const char* file, int line);
  ~WatchedGrid();
  WatchedGrid(const WatchedGrid&) = delete;
  WatchedGrid& operator=(const WatchedGrid&) = delete;
  // A unit: a block, a cluster, or all of a cooperative grid.
  void consists_of(std::uint64_t units, std::uint64_t blocks_per_unit);
};

}  // namespace hostcuda

#endif
