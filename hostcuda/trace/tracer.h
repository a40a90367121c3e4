// Follows the compiler's instrumentation and hostcuda's observer, and counts what kernels do to
// memory.
#ifndef HOSTCUDA_TRACE_TRACER_H
#define HOSTCUDA_TRACE_TRACER_H

#include <map>
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
  std::uint64_t begin;     // of the allocation or the variable
  std::uint64_t identity;  // of the address: no other byte in use has the same
};

// What is known of a block that has begun and has not ended.
struct RunningBlock {
  Moment now;  // without the warp's calls and the thread
  std::array<std::uint32_t, kMaxThreads / kLanes> warp_calls{};
  struct Variable {
    DeviceRange range;
    const char* identity;
  };
  std::vector<Variable> shared;
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
  void block_pauses() override;
  void block_resumes(const BlockState& block) override;
  void shared_variable(void* address, std::size_t size, const void* identity) override;
  void barrier_passed(const BlockState& block, Scope scope) override;
  void barrier_diverged(const BlockState& block) override;
  void warp_met(unsigned warp) override;

 private:
  bool find_memory(const char* address, Memory& memory);
  bool find_shared_of_other_block(const char* address, Memory& memory) const;
  void leave_warp(unsigned warp);
  void settle();

  std::vector<Kernel> kernels_;
  std::vector<Shape> launches_;
  Sites sites_;
  Races races_;
  std::vector<Divergence> divergences_;

  std::uint32_t kernel_ = 0;  // the running one
  unsigned warp_ = 0;         // of the last access
  std::array<WarpLog, kMaxThreads / kLanes> logs_;
  std::map<std::uint64_t, RunningBlock> blocks_;  // by number
  RunningBlock* block_ = nullptr;                 // the one that runs
  DeviceRange recent_;                            // global memory
  bool busy_ = false;
};

}  // namespace hostcuda::trace

#endif
