// Warp functions: the lanes in a mask exchange values when all of them have arrived.
#include <algorithm>
#include <cstring>

#include "execution/block.h"
#include "execution/report.h"

namespace hostcuda {
namespace {

// Returns a mask of the lanes that exist in the warp that starts at thread `first`. The last warp
// of a block may have fewer than 32 lanes.
unsigned existing_lanes(unsigned first, unsigned threads) {
  const unsigned lanes = std::min(kLanes, threads - first);
  return lanes == kLanes ? 0xffffffffu : (1u << lanes) - 1;
}

// Most values have four or eight bytes. memcpy with a constant size compiles to an instruction, not
// a call.
inline void copy_value(void* to, const void* from, unsigned size) {
  if (size == 4)
    std::memcpy(to, from, 4);
  else if (size == 8)
    std::memcpy(to, from, 8);
  else
    std::memcpy(to, from, size);
}

}  // namespace

void BlockRunner::warp_call(WarpRequest& request, const char* file, int line) {
  const unsigned me = current_;
  Thread& thread = threads_[me];
  thread.file = file;
  thread.line = line;
  thread.request = &request;
  if (!(request.mask >> me % kLanes & 1)) report_foreign_mask(*this);
  request.mask &= existing_lanes(me - me % kLanes, count_);
  thread.status = Status::in_warp_call;
  lanes_waiting_[me / kLanes] |= 1u << me % kLanes;
  // Only the last lane to arrive can complete the call. This test saves the other 31 lanes a
  // function call.
  if (request.operation == WarpOperation::converge || all_are_there(request, me / kLanes))
    complete_warp_call(me);
  wait(thread);
}

// The lanes in a call do not wait for a lane that has returned from the kernel, so a call can
// become complete although no lane arrives. The emulator checks this only when no other thread can
// run, because by then all lanes that can converge have arrived.
bool BlockRunner::complete_any_warp_call() {
  for (unsigned i = 0; i < count_; ++i)
    if (threads_[i].status == Status::in_warp_call && complete_warp_call(i)) return true;
  // The lanes at the earliest line go first, so that lanes in a branch can join the others after
  // the branch.
  unsigned first = count_;
  for (unsigned i = 0; i < count_; ++i) {
    const Thread& thread = threads_[i];
    if (thread.status == Status::in_warp_call &&
        thread.request->operation == WarpOperation::converge &&
        (first == count_ || thread.line < threads_[first].line))
      first = i;
  }
  if (first == count_) return false;
  complete_convergence(first, lanes_converging_with(first));
  return true;
}

unsigned BlockRunner::lanes_converging_with(unsigned member) const {
  const unsigned warp = member / kLanes;
  unsigned group = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(lanes_waiting_[warp] >> lane & 1)) continue;
    const Thread& thread = threads_[warp * kLanes + lane];
    if (thread.request->operation == WarpOperation::converge &&
        same_place(thread, threads_[member]))
      group |= 1u << lane;
  }
  return group;
}

void BlockRunner::complete_convergence(unsigned member, unsigned group) {
  const unsigned warp = member / kLanes;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(group >> lane & 1)) continue;
    threads_[warp * kLanes + lane].request->ballot = group;
    ready_.add(warp * kLanes + lane);
  }
  lanes_waiting_[warp] &= ~group;
  if (kernel_observer) kernel_observer->warp_met(warp, WarpOperation::converge, group);
}

// Completes the call in which `member` waits, if every lane in the call's mask has arrived there or
// returned from the kernel.
bool BlockRunner::complete_warp_call(unsigned member) {
  const unsigned warp = member / kLanes;
  const unsigned first = warp * kLanes;
  const WarpRequest& mine = *threads_[member].request;
  if (mine.operation == WarpOperation::converge) {
    const unsigned group = lanes_converging_with(member);
    if ((group | lanes_finished_[warp]) != existing_lanes(first, count_)) return false;
    complete_convergence(member, group);
    return true;
  }
  if (!all_are_there(mine, warp)) return false;

  const unsigned group = mine.mask & ~lanes_finished_[warp];
  unsigned ballot = 0;
  unsigned char values[kLanes][kMaxShuffleBytes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(group >> lane & 1)) continue;
    const WarpRequest& request = *threads_[first + lane].request;
    const bool waits_for_the_same =
        request.operation == mine.operation && (request.mask & ~lanes_finished_[warp]) == group;
    if (!waits_for_the_same) return false;
    if (request.size) copy_value(values[lane], request.value, request.size);
    if (request.predicate) ballot |= 1u << lane;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(group >> lane & 1)) continue;
    Thread& thread = threads_[first + lane];
    WarpRequest& request = *thread.request;
    request.ballot = ballot;
    if (request.operation == WarpOperation::shuffle) {
      const unsigned source = static_cast<unsigned>(request.source_lane) % kLanes;
      if (group >> source & 1) {
        copy_value(request.value, values[source], request.size);
      } else {
        // The value is undefined on a GPU. Here all bits are set (NaN, -1), so that the mistake is
        // visible.
        std::memset(request.value, 0xff, request.size);
        report_shuffle_from_absent_lane(*this, thread, source);
      }
    }
    if (request.operation == WarpOperation::gather)
      for (unsigned other = 0; other < kLanes; ++other)
        if (group >> other & 1)
          std::memcpy(static_cast<char*>(request.gathered) + other * request.size, values[other],
                      request.size);
    ready_.add(first + lane);
  }
  lanes_waiting_[warp] &= ~group;
  if (kernel_observer) kernel_observer->warp_met(warp, mine.operation, group);
  return true;
}

}  // namespace hostcuda
