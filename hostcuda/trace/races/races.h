// Data races: two accesses to the same bytes by different threads, at least one of them a write and
// not both atomic, with nothing between them that makes one happen before the other.
#ifndef HOSTCUDA_TRACE_RACES_RACES_H
#define HOSTCUDA_TRACE_RACES_RACES_H

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "checks/arrays.h"
#include "races/epochs.h"
#include "races/fences.h"

namespace hostcuda::trace {

struct Side {
  Access access;
  uint3 block, thread;
};

struct Race {
  Side earlier, later;  // the first time that it was seen; "earlier" is only the order of emulation
  std::uint64_t offset;  // in the allocation or the variable
  const Array* array;
  std::uint64_t count = 0;
};

// Accesses of operations that nothing orders: of two streams, or of one and of host code.
struct Unordered {
  Access earlier;
  std::uint32_t operation;  // of the earlier one
};

class Races {
 public:
  Races(const Epochs& epochs, const Fences& fences) : epochs_(epochs), fences_(fences) {}

  // An access of the operation that runs, by the thread of `when`. What it is not ordered with is
  // kept if both belong to one kernel, and returned if not.
  const Unordered* access(Array& array, std::size_t offset, Access access, const Epoch& when,
                          bool is_write);
  // An access of a copy, or of host code, that touches a whole word.
  const Unordered* access_between(Array& array, std::size_t offset, Access access, bool is_write);
  void other_epoch() { ordered_ = 0; }
  // A plain load that this thread's compare-and-swap follows is a guess, which the swap checks:
  // such loads race with no atomic.
  void compare_and_swap(Array& array, std::size_t offset, unsigned thread, const Epoch& when);
  // The last reader's epoch is this one's, too.
  static void read_again(Cell& cell, const Access& access) {
    Access& last = cell.reads[0];
    if (last.thread != access.thread) cell.reads[1] = last;
    last = access;
  }
  // Whether its last write comes before all that the running warp does now.
  bool is_settled(const Cell& cell) const {
    return !epochs_.is_known(cell.write.epoch) || cell.write.epoch == ordered_;
  }

  using Sites = std::pair<std::uint32_t, std::uint32_t>;  // of the earlier and the later access
  const std::map<Sites, Race>& found() const { return found_; }
  // Those that the last access made known.
  std::vector<const Race*> take_new() { return std::exchange(new_, {}); }
  bool has_new() const { return !new_.empty(); }
  Side side(const Access& access) const;

 private:
  bool is_ordered(const Access& earlier, const Access& later, const Epoch& when, Space space);
  void check(const Access& earlier, const Access& later, const Epoch& when, const Array& array,
             std::size_t offset, bool both_strong);
  bool same_thread(const Access& earlier, const Access& later, const Epoch& when) const;

  const Epochs& epochs_;
  const Fences& fences_;
  std::uint32_t ordered_ = 0;  // an epoch that comes before the running one
  std::map<Sites, Race> found_;
  std::set<std::uint32_t> guesses_;  // sites of loads
  std::vector<const Race*> new_;
  Unordered unordered_{};
  bool has_unordered_ = false;
};

}  // namespace hostcuda::trace

#endif
