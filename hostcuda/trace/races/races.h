// Finds data races: two threads access the same bytes, at least one thread writes, at least one
// access is not atomic or has a scope without the other thread, and nothing makes one access happen
// before the other.
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
  Side earlier, later;   // the sides of the first conflict, in the emulation's order
  std::uint64_t offset;  // offset in the allocation or variable
  const Array* array;
  std::uint64_t count = 0;
  bool is_same_value = false;  // true as long as all its accesses are stores of one value
};

// An access by another operation that is not ordered with the current access, because the two
// operations are in different streams or because one of the accesses is by host code.
struct Unordered {
  Access earlier;
  std::uint32_t operation;  // the operation of the earlier access
};

class Races {
 public:
  Races(const Epochs& epochs, const Fences& fences) : epochs_(epochs), fences_(fences) {}

  // Records an access by the running operation; `when` is the thread's epoch. Stores a race if an
  // earlier access of the same kernel is not ordered before this access. If an earlier access of
  // another operation is not ordered before this access, returns the earlier access; otherwise
  // null.
  const Unordered* access(Array& array, std::size_t offset, Access access, const Epoch& when,
                          bool is_write);
  // Records that a copy or host code accesses a whole word.
  const Unordered* access_between(Array& array, std::size_t offset, Access access, bool is_write);
  void other_epoch() { ordered_ = 0; }
  // Called for a compare-and-swap. If the thread made a plain load of the same word before, the
  // loaded value was a guess, which the compare-and-swap checks, so the load does not race with an
  // atomic.
  void compare_and_swap(Array& array, std::size_t offset, unsigned thread, const Epoch& when);
  // Records another read in the same epoch as the cell's last read.
  static void read_again(Cell& cell, const Access& access) {
    Access& last = cell.reads[0];
    if (last.thread != access.thread) cell.reads[1] = last;
    last = access;
  }
  // True if the cell's last write precedes everything that the running warp does now.
  bool is_settled(const Cell& cell) const {
    return !epochs_.is_known(cell.write.epoch) || cell.write.epoch == ordered_;
  }

  using Sites = std::pair<std::uint32_t, std::uint32_t>;  // of the earlier and of the later access
  const std::map<Sites, Race>& found() const { return found_; }
  // Returns the races that the last access revealed.
  std::vector<const Race*> take_new() { return std::exchange(new_, {}); }
  bool has_new() const { return !new_.empty(); }
  // Decides whether the last store wrote the same value as another thread's store. The tracer sees
  // a store before it takes place, so this function is called before the next store or when the
  // block stops.
  void settle_stores() {
    if (!stores_.empty()) compare_values();
  }
  // Returns the races between stores in which both stores have always written the same value.
  std::vector<const Race*> take_same_values();
  Side side(const Access& access) const;

 private:
  bool is_ordered(const Access& earlier, const Access& later, const Epoch& when, Space space);
  void check(const Access& earlier, const Access& later, const Epoch& when, const Array& array,
             std::size_t offset, bool both_strong);
  bool is_out_of_scope(const Access& earlier, const Access& later, const Epoch& when) const;
  bool same_thread(const Access& earlier, const Access& later, const Epoch& when) const;

  void compare_values();

  // The last store, which races with an earlier store of `value` to the word at `address`.
  struct Store {
    Race* race;
    const char* address;
    std::uint32_t value, bytes;
  };
  const Epochs& epochs_;
  const Fences& fences_;
  std::uint32_t ordered_ = 0;  // an epoch that is known to precede the running epoch
  std::map<Sites, Race> found_;
  std::set<std::uint32_t> guesses_;  // sites of loads that a compare-and-swap checks
  std::vector<const Race*> new_, same_values_;
  std::vector<Store> stores_;
  Unordered unordered_{};
  bool has_unordered_ = false;
};

}  // namespace hostcuda::trace

#endif
