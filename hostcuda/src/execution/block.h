// One block on one operating-system thread: which emulated thread runs, waits or has finished.
#ifndef HOSTCUDA_SRC_EXECUTION_BLOCK_H
#define HOSTCUDA_SRC_EXECUTION_BLOCK_H

#include <optional>
#include <vector>

#include "execution/block_state.h"
#include "execution/fiber.h"
#include "execution/ready_threads.h"
#include "execution/shared_memory.h"
#include "support/random.h"

namespace hostcuda {

class Gang;

// Runs blocks one after another. A fiber runs fresh threads in turn until one waits, so a kernel
// without barriers needs one fiber and no switch. A waiting thread keeps its fiber, and another
// fiber continues. No fiber outlives its block's run on this operating-system thread, so
// thread-local addresses that the compiler keeps in registers stay valid.
class BlockRunner : public BlockState {
 public:
  void run(const Launch& launch, std::uint64_t block_number);

  // Does the same in steps, for a block that may wait for other blocks of its gang: resume()
  // returns when the block is done, none of its threads can continue, or they only spin.
  void begin(const Launch& launch, std::uint64_t block_number, Gang* gang);
  void resume();
  bool can_run() const { return started_ < count_ || !ready_.empty(); }
  // Resumes the threads that wait at a barrier for several blocks.
  void release(Scope scope);
  // The kernel's __cluster_dims__ if the launch had others, so that the block ended at once.
  const std::optional<dim3>& wanted_cluster() const { return wanted_cluster_; }

  // Called by emulated threads.
  void barrier(const char* file, int line);
  unsigned counting_barrier(bool predicate, const char* file, int line);
  void yield();
  [[noreturn]] void abandon();  // leaves the block for good; its threads never resume
  void warp_call(WarpRequest& request, const char* file, int line);
  // A barrier for several blocks, or its two halves.
  void sync(Scope scope, const char* file, int line);
  void arrive(Scope scope, const char* file, int line);
  void wait_for(Scope scope, const char* file, int line);
  void require_cluster(const dim3& cluster);
  // The address in another block of the cluster that corresponds to `address` in this one.
  void* map_shared(void* address, unsigned rank, const char* file, int line);
  void begin_shared_variable(void* address, std::size_t size, const char* name);  // and counts it
  int lane() const { return static_cast<int>(current_ % kLanes); }

 private:
  void prepare(const Launch& launch, std::uint64_t block_number);
  bool declare_shared(void* address, std::size_t size, const char* name);
  static void fiber_entry(context::transfer_t transfer);
  void run_fresh_threads(Fiber& self);
  void enter(unsigned i);
  void wait(Thread& thread);
  Fiber& next_fiber();
  Fiber& fresh_fiber();
  bool unblock();
  void release_barrier();
  void check_barrier(Scope scope) const;
  void set_place(const char* file, int line);
  Gang& gang_for(Scope scope, const char* file, int line);
  bool complete_any_warp_call();
  bool complete_warp_call(unsigned member);
  bool all_are_there(const WarpRequest& request, unsigned warp) const {
    return !(request.mask & ~(lanes_waiting_[warp] | lanes_finished_[warp]));
  }
  unsigned lanes_converging_with(unsigned member) const;
  void complete_convergence(unsigned member, unsigned group);
  void shuffle_order();

  Gang* gang_ = nullptr;
  std::optional<dim3> wanted_cluster_;
  unsigned sequence_ = 0;     // value of block_sequence while it runs
  unsigned idle_yields_ = 0;  // consecutive ones
  unsigned started_ = 0;      // number of threads of order_ that have started
  unsigned at_barrier_ = 0;
  unsigned arrived_true_ = 0, counted_true_ = 0;  // true predicates now, and at the last one
  std::vector<std::uint16_t> order_;              // in which threads start and leave a barrier
  ReadyThreads ready_;
  std::array<unsigned, kMaxThreads / kLanes> lanes_waiting_, lanes_finished_;

  Fiber main_;  // the operating-system thread's own stack
  Fiber* starting_ = nullptr;
  std::vector<Fiber*> fibers_, idle_;

  dim3 shape_{0, 0, 0};  // shape for which threads_[].index is valid
  RandomNumbers random_;
  SharedMemory shared_;
  std::size_t static_shared_bytes_ = 0;
};

// The block that this operating-system thread runs, or null in host code.
extern __thread BlockRunner* running_block;

// Changes whenever an emulated thread of this operating-system thread starts, or resumes after a
// wait; if it stays the same for long, something may hang. Spinning threads do not change it.
extern __thread std::uint64_t progress;

}  // namespace hostcuda

#endif
