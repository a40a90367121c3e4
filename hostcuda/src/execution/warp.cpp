// Warp functions: the lanes that a mask names exchange values once all of them have arrived.
#include <algorithm>

#include "execution/block.h"
#include "execution/kernel_observer.h"
#include "execution/report.h"

namespace hostcuda {
namespace {

// The lanes that exist in a warp whose first thread is `first`; the last warp may be short.
unsigned existing_lanes(unsigned first, unsigned threads) {
  const unsigned lanes = std::min(kLanes, threads - first);
  return lanes == kLanes ? 0xffffffffu : (1u << lanes) - 1;
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
  complete_warp_call(me);  // if this lane was the last one, all of them are ready now
  wait(thread);
}

// Lanes that return from the kernel no longer hold up the others, so a call may become complete
// without another arrival. Looked at only when nothing else can run.
bool BlockRunner::complete_any_warp_call() {
  for (unsigned i = 0; i < count_; ++i)
    if (threads_[i].status == Status::in_warp_call && complete_warp_call(i)) return true;
  return false;
}

// Carries out the call that `member` waits in if every lane of its mask has come or has finished.
bool BlockRunner::complete_warp_call(unsigned member) {
  const unsigned warp = member / kLanes;
  const unsigned first = warp * kLanes;
  const WarpRequest& mine = *threads_[member].request;
  if (mine.mask & ~(lanes_waiting_[warp] | lanes_finished_[warp])) return false;

  const unsigned group = mine.mask & ~lanes_finished_[warp];
  unsigned ballot = 0;
  std::array<std::uint64_t, kLanes> values;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(group >> lane & 1)) continue;
    const WarpRequest& request = *threads_[first + lane].request;
    const bool waits_for_the_same =
        request.operation == mine.operation && (request.mask & ~lanes_finished_[warp]) == group;
    if (!waits_for_the_same) return false;
    values[lane] = request.value;
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
        request.value = values[source];
      } else {
        // Undefined on a GPU: all ones (NaN, -1) make it visible.
        request.value = ~std::uint64_t{0};
        report_shuffle_from_absent_lane(*this, thread, source);
      }
    }
    make_ready(first + lane);
  }
  lanes_waiting_[warp] &= ~group;
  if (kernel_observer) kernel_observer->warp_met(warp);
  return true;
}

}  // namespace hostcuda
