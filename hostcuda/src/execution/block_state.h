// What can be seen of a running block: for messages, and for tools that watch kernels.
#ifndef HOSTCUDA_SRC_EXECUTION_BLOCK_STATE_H
#define HOSTCUDA_SRC_EXECUTION_BLOCK_STATE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#include "cuda_runtime.h"

namespace hostcuda {

constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kLanes = 32;

struct Fiber;

// A grid that is to run: everything that a block needs to know.
struct Launch {
  Site site;
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared_bytes;
  std::size_t shared_limit;  // static and dynamic
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
  Fiber* fiber;      // on whose stack it waits
  const char* file;  // where it waits
  int line;
  WarpRequest* request;  // what it asks of its warp
};

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

 protected:
  const Launch* launch_ = nullptr;
  unsigned count_ = 0;    // threads in the block
  unsigned current_ = 0;  // the one that runs
  std::array<Thread, kMaxThreads> threads_;
  char* dynamic_shared_ = nullptr;
};

}  // namespace hostcuda

#endif
