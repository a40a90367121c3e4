// What a tool that watches kernels run is told; ../../trace is one. There is none by default.
#ifndef HOSTCUDA_SRC_EXECUTION_KERNEL_OBSERVER_H
#define HOSTCUDA_SRC_EXECUTION_KERNEL_OBSERVER_H

#include <cstddef>

#include "execution/block_state.h"

namespace hostcuda {

// While there is one, a grid runs on one operating-system thread, and barrier divergence is
// reported to it instead of ending the process.
class KernelObserver {
 public:
  virtual void grid_begins(const Launch& launch) = 0;
  virtual void block_begins(const BlockState& block) = 0;
  virtual void block_pauses() = 0;  // others of its gang run before it resumes
  virtual void block_resumes(const BlockState& block) = 0;
  virtual void block_ended() = 0;
  // identity: where other blocks of the cluster find the variable; no other block has the same.
  virtual void shared_variable(void* address, std::size_t size, const void* identity,
                               const char* name) = 0;
  // By every thread of the block.
  virtual void barrier_passed(const BlockState& block, Scope scope) = 0;
  virtual void barrier_diverged(const BlockState& block) = 0;
  virtual void warp_met(unsigned warp) = 0;  // its lanes synchronised or exchanged values

 protected:
  ~KernelObserver() = default;
};

extern KernelObserver* kernel_observer;

}  // namespace hostcuda

#endif
