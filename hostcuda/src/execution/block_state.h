// The part of a running block's state that messages and observers may read.
#ifndef HOSTCUDA_SRC_EXECUTION_BLOCK_STATE_H
#define HOSTCUDA_SRC_EXECUTION_BLOCK_STATE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "cuda_runtime.h"

namespace hostcuda {

constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kLanes = 32;

struct Fiber;

inline const char* barrier_name(Scope scope) {
  constexpr const char* kNames[] = {"__syncthreads()", "cluster.sync()", "grid.sync()"};
  return kNames[static_cast<unsigned>(scope)];
}

class Family;

// Everything that a block needs to know about its grid.
struct Launch {
  Site site;
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared_bytes;
  std::size_t shared_limit;  // bytes of static and dynamic shared memory
  std::shared_ptr<const Work> body;
  int device;
  std::uint64_t number;  // index of the launch in the process; seeds the random orders
  dim3 cluster{1, 1, 1};
  bool cooperative = false;  // allows grid.sync()
  unsigned depth = 0;        // of launches by kernels: 0 if host code launched the grid
  Family* family = nullptr;  // what the grid's kernels have launched; set while the grid runs
  unsigned threads() const { return block.x * block.y * block.z; }
  std::uint64_t blocks() const { return std::uint64_t{grid.x} * grid.y * grid.z; }
  uint3 block_index(std::uint64_t block_number) const {
    return {static_cast<unsigned>(block_number % grid.x),
            static_cast<unsigned>(block_number / grid.x % grid.y),
            static_cast<unsigned>(block_number / grid.x / grid.y)};
  }
  unsigned cluster_size() const { return cluster.x * cluster.y * cluster.z; }
  std::uint64_t cluster_of(std::uint64_t block_number) const {
    const uint3 at = block_index(block_number);
    return at.x / cluster.x +
           std::uint64_t{grid.x / cluster.x} *
               (at.y / cluster.y + std::uint64_t{grid.y / cluster.y} * (at.z / cluster.z));
  }
  std::uint64_t block_of_cluster(std::uint64_t number_of_cluster, unsigned rank) const {
    const unsigned across = grid.x / cluster.x, down = grid.y / cluster.y;
    const std::uint64_t x = number_of_cluster % across * cluster.x + rank % cluster.x;
    const std::uint64_t y =
        number_of_cluster / across % down * cluster.y + rank / cluster.x % cluster.y;
    const std::uint64_t z =
        number_of_cluster / across / down * cluster.z + rank / cluster.x / cluster.y;
    return x + grid.x * (y + grid.y * z);
  }
};

enum class Status : std::uint8_t { fresh, running, at_barrier, in_warp_call, finished };

struct Thread {
  uint3 index;
  Status status;
  Fiber* fiber;      // the fiber on which the thread waits
  const char* file;  // the source file where the thread waits
  int line;
  WarpRequest* request;  // the thread's request to its warp
  Scope scope;           // the barrier at which the thread waits
  // The thread's last arrival at the cluster's barrier and at the grid's barrier: 0 if the thread
  // has never arrived at that barrier; otherwise k, if the last arrival counts for the barrier's
  // k-th completion, which may be still to come.
  std::array<std::uint32_t, 2> arrivals;
  cudaError_t last_error;  // of the thread's API calls

  std::uint32_t& arrival(Scope barrier) { return arrivals[barrier == Scope::grid]; }
};

inline bool waits_at(const Thread& thread, Scope scope) {
  return thread.status == Status::at_barrier && thread.scope == scope;
}

inline bool same_place(const Thread& a, const Thread& b) {
  return a.line == b.line && (a.file == b.file || !std::strcmp(a.file, b.file));
}

class BlockState {
 public:
  const Launch& launch() const { return *launch_; }
  unsigned count() const { return count_; }
  const Thread& thread(unsigned i) const { return threads_[i]; }
  const Thread& current() const { return threads_[current_]; }
  unsigned current_number() const { return current_; }
  void* dynamic_shared() const { return dynamic_shared_; }
  std::uint64_t number() const { return number_; }  // the block's index in its grid
  bool is_done() const { return finished_ == count_; }

 protected:
  const Launch* launch_ = nullptr;
  std::uint64_t number_ = 0;
  unsigned count_ = 0;  // threads in the block
  unsigned finished_ = 0;
  unsigned current_ = 0;  // the running thread
  std::array<Thread, kMaxThreads> threads_;
  char* dynamic_shared_ = nullptr;
};

// Callbacks for a tool that observes kernels, such as ../../trace. By default there is no observer.
// With an observer, a grid runs on one operating-system thread, and barrier divergence is reported
// to the observer but does not end the process.
class KernelObserver {
 public:
  virtual void grid_begins(const Launch& launch) = 0;
  virtual void block_begins(const BlockState& block) = 0;
  virtual void block_pauses() = 0;  // other blocks of the gang run before the block resumes
  virtual void block_resumes(const BlockState& block) = 0;
  virtual void block_ended() = 0;
  // identity: the unique address at which other blocks of the cluster find the variable.
  virtual void shared_variable(void* address, std::size_t size, const void* identity,
                               const char* name) = 0;
  // Called whenever the block's threads have passed a barrier.
  virtual void barrier_passed(const BlockState& block, Scope scope) = 0;
  virtual void barrier_diverged(const BlockState& block) = 0;
  // Called when lanes of the warp have made a call together. All such calls except __activemask()
  // synchronise the lanes.
  virtual void warp_met(unsigned warp, WarpOperation operation, unsigned lanes) = 0;
  // The running thread begins an asynchronous copy to these bytes; `code` is the return address of
  // the call that begins the copy.
  virtual void async_copy_begins(const void* /*to*/, unsigned /*bytes*/, const void* /*code*/) {}
  virtual void async_copy_completes(const void* /*to*/) {}  // called before the bytes are written

 protected:
  ~KernelObserver() = default;
};

extern KernelObserver* kernel_observer;

// True if a trap or a failed assertion ended the grid, or if its kernel refused its blocks.
bool has_ended_early(const Launch& launch);

// Runs all blocks of a grid, distributed over the CPU's cores. The caller holds the API lock,
// because no two grids may run at the same time. Returns an error if the kernel refused the blocks.
cudaError_t run_grid(const Launch& launch);

}  // namespace hostcuda

#endif
