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

// Accesses of unordered operations: of two streams, or of a stream and host code.
struct Unordered {
  Access earlier;
  std::uint32_t operation;  // operation of the earlier one
};

class Races {
 public:
  Races(const Epochs& epochs, const Fences& fences) : epochs_(epochs), fences_(fences) {}

  // Records an access of the running operation, by the thread of `when`. If an earlier access is
  // unordered with it, stores the pair if both belong to one kernel, and returns the other if not.
  const Unordered* access(Array& array, std::size_t offset, Access access, const Epoch& when,
                          bool is_write);
  // Records an access to a whole word, by a copy or by host code.
  const Unordered* access_between(Array& array, std::size_t offset, Access access, bool is_write);
  void other_epoch() { ordered_ = 0; }
  // A plain load followed by this thread's compare-and-swap is a guess, which the swap checks: such
  // a load races with no atomic.
  void compare_and_swap(Array& array, std::size_t offset, unsigned thread, const Epoch& when);
  // Records another read in the epoch of the last reader.
  static void read_again(Cell& cell, const Access& access) {
    Access& last = cell.reads[0];
    if (last.thread != access.thread) cell.reads[1] = last;
    last = access;
  }
  // True if the cell's last write precedes everything that the running warp does now.
  bool is_settled(const Cell& cell) const {
    return !epochs_.is_known(cell.write.epoch) || cell.write.epoch == ordered_;
  }

  using Sites = std::pair<std::uint32_t, std::uint32_t>;  // earlier and later access
  const std::map<Sites, Race>& found() const { return found_; }
  // The races that the last access revealed.
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
  std::uint32_t ordered_ = 0;  // an epoch that precedes the running one
  std::map<Sites, Race> found_;
  std::set<std::uint32_t> guesses_;  // sites of loads
  std::vector<const Race*> new_;
  Unordered unordered_{};
  bool has_unordered_ = false;
};

}  // namespace hostcuda::trace

#endif
