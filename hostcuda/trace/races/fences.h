// The order of accesses that the kernel itself creates with fences and atomics. If a thread writes
// and then executes a __threadfence() and an atomic, its writes precede everything that another
// thread does after that thread has read the atomic's result.
#ifndef HOSTCUDA_TRACE_RACES_FENCES_H
#define HOSTCUDA_TRACE_RACES_FENCES_H

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "races/epochs.h"

namespace hostcuda::trace {

// The part of a block's work that precedes some event: everything before the block's barrier with
// the index `barriers`, and for some threads everything before their fence with the index in
// `fences`.
struct Seen {
  std::uint32_t barriers = 0;
  std::map<std::uint16_t, std::uint32_t> fences;
};
using SeenBlocks = std::map<std::uint32_t, Seen>;

class Fences {
 public:
  void begin_grid();
  // False until the grid's first fence, because no fence orders any access until then.
  bool any() const { return any_; }
  std::uint32_t count(std::uint32_t block, std::uint16_t thread) const;

  // of_block: the fence orders the thread's writes only for threads of the same block.
  void fence(const Epoch& now, std::uint16_t thread, bool of_block);
  void wrote(std::uint32_t block, std::uint16_t thread);
  void released_at(std::uint64_t address, std::uint32_t block, std::uint16_t thread);
  void acquired_at(std::uint64_t address, std::uint32_t block, std::uint16_t thread);
  void barrier(std::uint32_t block, std::uint32_t barriers_before);

  // True if another thread's earlier access precedes this thread's next action.
  bool orders(const Epoch& earlier, std::uint16_t earlier_thread, std::uint32_t block,
              std::uint16_t thread) const;

 private:
  using Shared = std::shared_ptr<const SeenBlocks>;
  static Shared joined(const Shared& a, const Shared& b);

  struct OfThread {
    std::uint32_t fences = 0;
    bool has_written = true;  // since the last fence; assumed to be true before the first fence
    Shared acquired, released;
    Shared released_in_block;  // by a fence of the block since the last fence of the device
  };
  struct OfBlock {
    std::map<std::uint16_t, OfThread> threads;
    Shared acquired, released;
    bool knows_writers = false;  // true once a barrier has reset has_written
  };
  bool any_ = false;
  std::map<std::uint32_t, OfBlock> blocks_;
  std::unordered_map<std::uint64_t, Shared> released_;  // key: the address
  // What is released only for threads of one block. The keys are an address and the block.
  std::map<std::pair<std::uint64_t, std::uint32_t>, Shared> released_in_block_;
};

}  // namespace hostcuda::trace

#endif
