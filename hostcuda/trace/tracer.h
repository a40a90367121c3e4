// Follows the compiler's instrumentation and hostcuda's observer, and counts what kernels do to
// memory.
#ifndef HOSTCUDA_TRACE_TRACER_H
#define HOSTCUDA_TRACE_TRACER_H

#include <string>
#include <vector>

#include "execution/kernel_observer.h"
#include "races.h"
#include "runtime/memory.h"
#include "sites.h"
#include "warp_log.h"

namespace hostcuda::trace {

struct Kernel {
  std::string name;
  std::uint64_t launches = 0, blocks = 0, threads = 0;
};

struct Shape {
  dim3 grid, block;
};

// Threads of one block that waited at different barriers.
struct Divergence {
  struct Place {
    std::string file;
    int line;
    unsigned threads;
    uint3 example;
  };
  std::uint32_t kernel;
  uint3 block;
  std::vector<Place> places;
};

struct Memory {
  Space space;
  std::uint64_t begin;
};

class Tracer final : public KernelObserver {
 public:
  // An access by the code at `code`, to memory of any kind. An access that a GPU cannot make at
  // once is cut into pieces of `piece` bytes.
  void access(const void* address, unsigned bytes, unsigned piece, Kind kind, const void* code);

  const std::vector<Kernel>& kernels() const { return kernels_; }
  const Sites& sites() const { return sites_; }
  const Races& races() const { return races_; }
  const std::vector<Divergence>& divergences() const { return divergences_; }
  uint3 block_of(const Moment& when) const;
  uint3 thread_of(const Moment& when) const;

  void grid_begins(const Launch& launch) override;
  void block_begins(const BlockState& block) override;
  void block_ended() override;
  void shared_variable(void* address, std::size_t size, const char* name) override;
  void barrier_passed() override;
  void barrier_diverged(const BlockState& block) override;
  void warp_met(unsigned warp) override;

 private:
  bool find_memory(const char* address, Memory& memory);
  void leave_warp(unsigned warp);

  std::vector<Kernel> kernels_;
  std::vector<Shape> launches_;
  Sites sites_;
  Races races_;
  std::vector<Divergence> divergences_;

  std::uint32_t kernel_ = 0;  // the running one
  Moment now_;                // without the warp's calls and the thread
  unsigned warp_ = 0;         // of the last access
  std::array<WarpLog, kMaxThreads / kLanes> logs_;
  std::array<std::uint32_t, kMaxThreads / kLanes> warp_calls_{};
  std::vector<DeviceRange> shared_variables_;  // of the block
  DeviceRange recent_;                         // global memory
  bool busy_ = false;
};

}  // namespace hostcuda::trace

#endif
