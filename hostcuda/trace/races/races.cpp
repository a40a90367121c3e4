#include "races/races.h"

#include <cstring>

#include "execution/block_state.h"

namespace hostcuda::trace {
namespace {

uint3 position(unsigned number, const dim3& shape) {
  return {number % shape.x, number / shape.x % shape.y, number / shape.x / shape.y};
}

std::uint32_t word_at(const char* address) {
  std::uint32_t word;
  std::memcpy(&word, address, sizeof word);
  return word;
}

// `bytes` is a mask of the bytes to compare.
bool differ(std::uint32_t a, std::uint32_t b, std::uint32_t bytes) {
  for (unsigned i = 0; i < kWordBytes; ++i)
    if ((bytes >> i & 1) && ((a ^ b) >> 8 * i & 0xff)) return true;
  return false;
}

}  // namespace

Side Races::side(const Access& access) const {
  const OperationRecord& launch = epochs_.operation_of(access.epoch);
  return {access, position(epochs_[access.epoch].block, launch.grid),
          position(access.thread, launch.block)};
}

bool Races::same_thread(const Access& earlier, const Access& later, const Epoch& when) const {
  if (earlier.thread != later.thread || !epochs_.is_known(earlier.epoch)) return false;
  const Epoch& then = epochs_[earlier.epoch];
  return then.operation == when.operation && then.block == when.block;
}

// Shared memory belongs to one block and its cluster. An earlier use of the same bytes by another
// cluster is not a conflict.
bool Races::is_ordered(const Access& earlier, const Access& later, const Epoch& now, Space space) {
  if (earlier.epoch == ordered_ || !epochs_.is_known(earlier.epoch)) return true;
  const Epoch& then = epochs_[earlier.epoch];
  if (space == Space::shared && (then.operation != now.operation || then.cluster != now.cluster))
    return true;
  const auto all_threads_are = [&] {
    if (then.operation != now.operation)
      return epochs_.operation(now.operation).comes_after(epochs_.operation(then.operation));
    if (then.grid_barriers != now.grid_barriers) return true;
    if (then.block != now.block)
      return then.cluster == now.cluster && then.cluster_barriers != now.cluster_barriers;
    if (then.barriers != now.barriers) return true;
    return earlier.thread / kLanes == later.thread / kLanes && then.warp_calls != now.warp_calls;
  };
  if (all_threads_are()) {
    ordered_ = earlier.epoch;
    return true;
  }
  if (then.operation != now.operation) {
    unordered_ = {earlier, then.operation};
    has_unordered_ = true;
    return true;  // no race, but `unordered_` is reported
  }
  if (then.block == now.block && earlier.thread == later.thread) return true;
  return fences_.any() && fences_.orders(then, static_cast<std::uint16_t>(earlier.thread),
                                         now.block, static_cast<std::uint16_t>(later.thread));
}

// True if two accesses cannot race with each other: two atomics, or polling. Polling means that a
// volatile load reads global memory that an atomic or a volatile store writes, and both access the
// memory directly. (Polling is not a race, but it does not order other accesses.)
bool are_strong(const Access& a, const Access& b, bool one_is_load, Space space) {
  if (a.is_atomic && b.is_atomic) return true;
  const bool both = (a.is_atomic || a.is_volatile) && (b.is_atomic || b.is_volatile);
  return both && one_is_load && space == Space::global;
}

// True if one of two accesses is an atomic whose scope is its block, and the other is by another
// block.
bool Races::is_out_of_scope(const Access& earlier, const Access& later, const Epoch& when) const {
  return (earlier.has_scope_of_block() || later.has_scope_of_block()) &&
         epochs_.is_known(earlier.epoch) && epochs_[earlier.epoch].block != when.block;
}

void Races::compare_and_swap(Array& array, std::size_t offset, unsigned thread, const Epoch& when) {
  Access own;
  own.thread = thread;
  for (const Access& read : array.cells[offset / kWordBytes].reads)
    if (read.epoch && !read.is_atomic && same_thread(read, own, when)) guesses_.insert(read.site);
}

void Races::check(const Access& earlier, const Access& later, const Epoch& when, const Array& array,
                  std::size_t offset, bool one_is_load) {
  if (!(earlier.bytes & later.bytes)) return;
  if (are_strong(earlier, later, one_is_load, array.space) &&
      !is_out_of_scope(earlier, later, when))
    return;
  if (is_ordered(earlier, later, when, array.space)) return;
  if (one_is_load && (earlier.is_atomic ? guesses_.contains(later.site)
                                        : later.is_atomic && guesses_.contains(earlier.site)))
    return;
  const auto [found, is_new] = found_.try_emplace({earlier.site, later.site});
  Race& race = found->second;
  if (is_new) race = {side(earlier), side(later), offset, &array, 0, true};
  ++race.count;
  if (!race.is_same_value) return;
  if (one_is_load || earlier.is_atomic || later.is_atomic) {
    race.is_same_value = false;
    new_.push_back(&race);
    return;
  }
  if (is_new) same_values_.push_back(&race);
  const char* word = array.begin + (offset - offset % kWordBytes);
  stores_.push_back(
      {&race, word, word_at(word), std::uint32_t{earlier.bytes} & std::uint32_t{later.bytes}});
}

void Races::compare_values() {
  for (const Store& store : stores_) {
    if (!store.race->is_same_value || !differ(store.value, word_at(store.address), store.bytes))
      continue;
    store.race->is_same_value = false;
    new_.push_back(store.race);
  }
  stores_.clear();
}

std::vector<const Race*> Races::take_same_values() {
  std::erase_if(same_values_, [](const Race* race) { return !race->is_same_value; });
  return std::exchange(same_values_, {});
}

const Unordered* Races::access(Array& array, std::size_t offset, Access access, const Epoch& when,
                               bool is_write) {
  Cell& cell = array.cells[offset / kWordBytes];
  has_unordered_ = false;
  if (cell.write.epoch && cell.write.epoch != ordered_)
    check(cell.write, access, when, array, offset, !is_write);
  if (!is_write) {
    Access& last = cell.reads[0];
    const bool again = last.epoch == access.epoch && last.thread == access.thread;
    if (!again && last.epoch && !same_thread(last, access, when)) cell.reads[1] = last;
    last = access;
  } else {
    for (const Access& read : cell.reads)
      if (read.epoch && read.epoch != ordered_) check(read, access, when, array, offset, true);
    // If an atomic follows a plain store, keeps the store, which may race with other atomics.
    if (access.is_atomic && cell.write.epoch && !cell.write.is_atomic) cell.reads[1] = cell.write;
    cell.write = access;
  }
  return has_unordered_ ? &unordered_ : nullptr;
}

const Unordered* Races::access_between(Array& array, std::size_t offset, Access access,
                                       bool is_write) {
  Cell& cell = array.cells[offset / kWordBytes];
  const OperationRecord* now = access.epoch ? &epochs_.operation_of(access.epoch) : nullptr;
  has_unordered_ = false;
  const auto look_at = [&](const Access& earlier) {
    if (!earlier.epoch || !epochs_.is_known(earlier.epoch)) return;
    const OperationRecord& then = epochs_.operation_of(earlier.epoch);
    const Clock& host = host_clock();
    const bool ordered = now ? now->comes_after(then)
                             : then.stream < host.size() && host[then.stream] >= then.number;
    if (ordered) return;
    unordered_ = {earlier, epochs_[earlier.epoch].operation};
    has_unordered_ = true;
  };
  look_at(cell.write);
  if (is_write)
    for (const Access& read : cell.reads) look_at(read);
  if (now) (is_write ? cell.write : cell.reads[0]) = access;
  return has_unordered_ ? &unordered_ : nullptr;
}

}  // namespace hostcuda::trace
