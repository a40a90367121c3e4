// One block on one operating-system thread: which emulated thread runs, waits or has finished.
#ifndef HOSTCUDA_SRC_BLOCK_H
#define HOSTCUDA_SRC_BLOCK_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "cuda_runtime.h"
#include "fiber.h"
#include "random.h"

namespace hostcuda {

constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kLanes = 32;

// A grid that is to run: everything a block needs to know.
struct Launch {
  Site site;
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared_bytes;
  std::function<void()> body;
  int device;
  std::uint64_t number;  // counts launches; seeds random orders
  unsigned threads() const { return block.x * block.y * block.z; }
  std::uint64_t blocks() const { return std::uint64_t{grid.x} * grid.y * grid.z; }
};

enum class Status : std::uint8_t { fresh, running, at_barrier, in_warp_call, finished };

struct Thread {
  uint3 index;
  Status status;
  Fiber* fiber;      // whose stack it waits on
  const char* file;  // where it waits
  int line;
  WarpRequest* request;  // what it asks of its warp
};

// Runs blocks one after another. A fiber runs fresh threads in turn for as long as none of them
// waits, so a kernel without barriers needs one fiber and no switch. A thread that waits keeps its
// fiber, and another fiber goes on. No fiber outlives its block's run on this operating-system
// thread, so thread-local addresses that the compiler keeps in registers stay right.
class BlockRunner {
 public:
  void run(const Launch& launch, std::uint64_t block_number);

  // Called by emulated threads.
  void barrier(const char* file, int line);
  void warp_call(WarpRequest& request, const char* file, int line);
  void begin_shared_variable(void* address, std::size_t size, const char* name);
  void* dynamic_shared() const { return dynamic_shared_; }
  unsigned current_number() const { return current_; }
  int lane() const { return static_cast<int>(current_ % kLanes); }

  // For messages.
  const Launch& launch() const { return *launch_; }
  unsigned count() const { return count_; }
  const Thread& thread(unsigned i) const { return threads_[i]; }
  const Thread& current() const { return threads_[current_]; }

 private:
  void prepare(const Launch& launch, std::uint64_t block_number);
  void allocate_dynamic_shared(std::size_t size);
  static void fiber_entry(context::transfer_t transfer);
  void run_fresh_threads(Fiber& self);
  void enter(unsigned i);
  void wait(Thread& thread);
  Fiber& next_fiber();
  void unblock();
  void release_barrier();
  void check_barrier() const;
  bool complete_any_warp_call();
  bool complete_warp_call(unsigned member);
  void make_ready(unsigned i) {
    ready_[ready_end_++ % kMaxThreads] = static_cast<std::uint16_t>(i);
  }

  const Launch* launch_ = nullptr;
  unsigned count_ = 0;    // threads in the block
  unsigned current_ = 0;  // the one that runs
  unsigned started_ = 0;  // how many of order_ have begun
  unsigned finished_ = 0;
  unsigned at_barrier_ = 0;
  std::array<Thread, kMaxThreads> threads_;
  std::vector<std::uint16_t> order_;              // in which threads begin and leave a barrier
  std::array<std::uint16_t, kMaxThreads> ready_;  // ring: threads that may go on
  unsigned ready_begin_ = 0, ready_end_ = 0;
  std::array<unsigned, kMaxThreads / kLanes> lanes_waiting_, lanes_finished_;

  Fiber main_;  // the operating-system thread's own stack
  Fiber* starting_ = nullptr;
  std::vector<Fiber*> idle_;

  dim3 shape_{0, 0, 0};  // for which threads_[].index holds
  RandomNumbers random_;
  char* dynamic_shared_ = nullptr;
  std::size_t dynamic_capacity_ = 0;
  std::size_t static_shared_bytes_ = 0;
};

// The block that this operating-system thread runs, or null in host code.
extern __thread BlockRunner* running_block;

}  // namespace hostcuda

#endif
