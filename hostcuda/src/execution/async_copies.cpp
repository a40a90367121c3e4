// The asynchronous copies that each emulated thread has begun.
#include "hostcuda/ptx/async_copies.h"

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "execution/block.h"
#include "hostcuda/launch.h"

namespace hostcuda::async_copies {
namespace {

struct OfThread {
  std::vector<Copy> open;                // copies that are in no batch yet
  std::deque<std::deque<Copy>> batches;  // oldest first
};

// The block's sequence number and the thread's number in the block. The block's number is needed
// because one operating-system thread may run several blocks.
using Key = std::pair<unsigned, unsigned>;
std::map<Key, OfThread>& all() {
  static thread_local std::map<Key, OfThread> of_threads;
  return of_threads;
}
Key own_key() { return {block_sequence, running_block ? running_block->current_number() : 0}; }

}  // namespace

void add(const Copy& copy) {
  all()[own_key()].open.push_back(copy);
  if (kernel_observer)
    kernel_observer->async_copy_begins(copy.to, copy.bytes, __builtin_return_address(0));
}

void commit() {
  OfThread& own = all()[own_key()];
  own.batches.emplace_back(own.open.begin(), own.open.end());
  own.open.clear();
}

bool next(unsigned left, Copy& copy) {
  const auto found = all().find(own_key());
  if (found == all().end()) return false;
  OfThread& own = found->second;
  while (own.batches.size() > left && own.batches.front().empty()) own.batches.pop_front();
  if (own.batches.size() > left) {
    copy = own.batches.front().front();
    own.batches.front().pop_front();
    if (kernel_observer) kernel_observer->async_copy_completes(copy.to);
    return true;
  }
  if (own.batches.empty() && own.open.empty()) all().erase(found);
  return false;
}

}  // namespace hostcuda::async_copies
