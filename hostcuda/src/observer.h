// What a tool that watches kernels run is told; ../trace is one. Nobody watches by default.
#ifndef HOSTCUDA_SRC_OBSERVER_H
#define HOSTCUDA_SRC_OBSERVER_H

#include <cstddef>

namespace hostcuda {

class BlockRunner;
struct Launch;

// While there is one, a grid runs on one operating-system thread, and barrier divergence is told to
// it instead of ending the process.
class Observer {
 public:
  virtual void grid_begins(const Launch& launch) = 0;
  virtual void block_begins(const BlockRunner& block) = 0;
  virtual void block_ended() = 0;
  virtual void shared_variable(void* address, std::size_t size, const char* name) = 0;
  virtual void barrier_passed() = 0;  // by every thread of the block
  virtual void barrier_diverged(const BlockRunner& block) = 0;
  virtual void warp_met(unsigned warp) = 0;  // its lanes synchronised or exchanged values

 protected:
  ~Observer() = default;
};

extern Observer* observer;

}  // namespace hostcuda

#endif
