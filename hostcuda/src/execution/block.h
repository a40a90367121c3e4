// Runs one block on one operating-system thread: decides which emulated thread runs next.
#ifndef HOSTCUDA_SRC_EXECUTION_BLOCK_H
#define HOSTCUDA_SRC_EXECUTION_BLOCK_H

#include <optional>
#include <vector>

#include "execution/block_state.h"
#include "execution/fiber.h"
#include "execution/ready_threads.h"
#include "execution/shared_memory.h"
#include "launch/children.h"
#include "support/random.h"

namespace hostcuda {

class Gang;

// Runs blocks one after another. A fiber runs threads one after another until one of them has to
// wait, so a kernel without barriers needs only one fiber and no switch. A waiting thread keeps its
// fiber, and another fiber runs the next threads. During a block, a fiber stays on one
// operating-system thread, so thread-local addresses that the compiler keeps in registers stay
// valid.
class BlockRunner : public BlockState {
 public:
  void run(const Launch& launch, std::uint64_t block_number);

  // begin() and resume() run a block in steps, because the block may wait for other blocks of its
  // gang. resume() returns when the block has ended, when none of its threads can continue, or when
  // all of its threads spin.
  void begin(const Launch& launch, std::uint64_t block_number, Gang* gang);
  void resume();
  bool can_run() const { return started_ < count_ || !ready_.empty(); }
  // Resumes the threads that wait at a barrier across blocks.
  void release(Scope scope);
  // Returns the kernel's __cluster_dims__ if the launch had another cluster shape. The block then
  // ended at the kernel's first statement.
  const std::optional<dim3>& wanted_cluster() const { return wanted_cluster_; }

  // Called by emulated threads.
  void barrier(const char* file, int line);
  unsigned counting_barrier(bool predicate, const char* file, int line);
  void yield();
  [[noreturn]] void abandon();  // leaves the block for good; none of its threads resumes
  void warp_call(WarpRequest& request, const char* file, int line);
  // sync() is a barrier across blocks; arrive() and wait_for() are its two halves.
  void sync(Scope scope, const char* file, int line);
  void arrive(Scope scope, const char* file, int line);
  void wait_for(Scope scope, const char* file, int line);
  void require_cluster(const dim3& cluster);
  // Returns the address in another block of the cluster that corresponds to `address` in this
  // block.
  void* map_shared(void* address, unsigned rank, const char* file, int line);
  bool is_shared(const void* address) const {
    return shared_.to_window(static_cast<const char*>(address)) != 0;
  }
  unsigned to_window(const void* address, const char* file, int line);
  void* from_window(std::size_t window, const char* file, int line);
  // Declares a shared variable and adds its size to the block's total. Ends the process if the
  // total is too large. Returns false if the block has declared the variable before.
  bool begin_shared_variable(void* address, std::size_t size, const char* name, bool counts);
  // The launches by the block's threads, or by those of its gang's blocks. Begins when the block,
  // or the gang, has ended.
  Children& children() { return *children_; }
  // The number of launches by the block's threads. All of them are pending until the block ends.
  std::size_t launches() const { return launches_; }
  void count_launch() { ++launches_; }
  cudaError_t& last_error() { return threads_[current_].last_error; }
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
  unsigned sequence_ = 0;     // value of block_sequence while this block runs
  unsigned idle_yields_ = 0;  // consecutive calls of yield()
  unsigned started_ = 0;      // number of threads of order_ that have started
  unsigned at_barrier_ = 0;
  // Number of true predicates: so far at the current barrier, and in total at the last barrier.
  unsigned arrived_true_ = 0, counted_true_ = 0;
  std::vector<std::uint16_t> order_;  // the order in which threads run
  ReadyThreads ready_;
  std::array<unsigned, kMaxThreads / kLanes> lanes_waiting_, lanes_finished_;

  Fiber main_;  // the operating-system thread's own stack
  Fiber* starting_ = nullptr;
  std::vector<Fiber*> fibers_, idle_;

  dim3 shape_{0, 0, 0};  // the block shape that the indices in threads_ were computed for
  RandomNumbers random_;
  SharedMemory shared_;
  std::size_t static_shared_bytes_ = 0;
  Children own_children_;
  Children* children_ = &own_children_;
  std::size_t launches_ = 0;
};

// The block that this operating-system thread runs, or null in host code.
extern __thread BlockRunner* running_block;

// Changes whenever an emulated thread of this operating-system thread starts or resumes after a
// wait, but not while a thread spins. If this counter stays the same for a long time, a thread may
// hang.
extern __thread std::uint64_t progress;

}  // namespace hostcuda

#endif
