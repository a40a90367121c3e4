// One block on one operating-system thread: which emulated thread runs, waits or has finished.
#ifndef HOSTCUDA_SRC_EXECUTION_BLOCK_H
#define HOSTCUDA_SRC_EXECUTION_BLOCK_H

#include <vector>

#include "execution/block_state.h"
#include "execution/fiber.h"
#include "support/random.h"

namespace hostcuda {

// Runs blocks one after another. A fiber runs fresh threads in turn for as long as none of them
// waits, so a kernel without barriers needs one fiber and no switch. A thread that waits keeps its
// fiber, and another fiber goes on. No fiber outlives its block's run on this operating-system
// thread, so thread-local addresses that the compiler keeps in registers stay right.
class BlockRunner : public BlockState {
 public:
  void run(const Launch& launch, std::uint64_t block_number);

  // Called by emulated threads.
  void barrier(const char* file, int line);
  unsigned counting_barrier(bool predicate, const char* file, int line);
  void yield();
  [[noreturn]] void abandon();  // leaves the block for good; its threads never go on
  void warp_call(WarpRequest& request, const char* file, int line);
  void begin_shared_variable(void* address, std::size_t size, const char* name);  // and counts it
  // Changes whenever another emulated thread runs: what does not change for long may hang.
  std::uint64_t progress() const { return progress_; }
  int lane() const { return static_cast<int>(current_ % kLanes); }

 private:
  void prepare(const Launch& launch, std::uint64_t block_number);
  void allocate_dynamic_shared(std::size_t size);
  void poison_shared(void* address, std::size_t size, const char* name);
  static void fiber_entry(context::transfer_t transfer);
  void run_fresh_threads(Fiber& self);
  void enter(unsigned i);
  void wait(Thread& thread);
  Fiber& next_fiber();
  Fiber& fresh_fiber();
  void unblock();
  void release_barrier();
  void check_barrier() const;
  bool complete_any_warp_call();
  bool complete_warp_call(unsigned member);
  unsigned lanes_converging_with(unsigned member) const;
  void complete_convergence(unsigned member, unsigned group);
  void make_ready(unsigned i) {
    ready_[ready_end_++ % kMaxThreads] = static_cast<std::uint16_t>(i);
  }

  unsigned started_ = 0;  // how many of order_ have begun
  unsigned finished_ = 0;
  unsigned at_barrier_ = 0;
  unsigned arrived_true_ = 0, counted_true_ = 0;  // predicates at this barrier, at the last one
  std::uint64_t progress_ = 0;
  std::vector<std::uint16_t> order_;              // in which threads begin and leave a barrier
  std::array<std::uint16_t, kMaxThreads> ready_;  // ring: threads that may go on
  unsigned ready_begin_ = 0, ready_end_ = 0;
  std::array<unsigned, kMaxThreads / kLanes> lanes_waiting_, lanes_finished_;

  Fiber main_;  // the operating-system thread's own stack
  Fiber* starting_ = nullptr;
  std::vector<Fiber*> fibers_, idle_;

  dim3 shape_{0, 0, 0};  // for which threads_[].index holds
  RandomNumbers random_;
  std::size_t dynamic_capacity_ = 0;
  std::size_t static_shared_bytes_ = 0;
};

// The block that this operating-system thread runs, or null in host code.
extern __thread BlockRunner* running_block;

}  // namespace hostcuda

#endif
