// Finds lanes that leave out a call of a warp function in which other lanes wait for them.
//
// A lane that has returned from the kernel need not take part. So a lane that returned without the
// call is at fault only if it went past the call: the last line at which it accessed memory is one
// that the waiting lanes reach later, but had not reached before the call. This is not so if the
// lane returned early.
#ifndef HOSTCUDA_TRACE_CHECKS_ABSENCES_H
#define HOSTCUDA_TRACE_CHECKS_ABSENCES_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "counts/warp_log.h"
#include "execution/block_state.h"

namespace hostcuda::trace {

// The calls of warp functions in one block.
class Absences {
 public:
  // These lanes have made a call together. `log`: the accesses of the warp since the last barrier.
  void warp_met(const BlockState& block, unsigned warp, unsigned lanes, const WarpLog& log);
  // Called before the log is cleared. Reports the lanes that went past a call.
  void settle(const BlockState& block, unsigned warp, const WarpLog& log, const Sites& sites);

 private:
  struct Suspect {
    unsigned warp, lanes;  // the lanes that made the call
    unsigned lane;         // the lane that left it out
    std::uint32_t site;    // the last place at which this lane accessed memory
    const char* file;      // the place of the call
    int line;
    std::array<std::size_t, kLanes> sizes;  // of the lanes' logs when they made the call
  };
  static bool went_past(const Suspect& suspect, const WarpLog& log, const Sites& sites);
  unsigned& met_at(const Thread& thread, unsigned warp) {
    return met_[{thread.file, thread.line, warp}];
  }
  // By file, line and warp: the lanes that have made the call.
  std::map<std::tuple<const char*, int, unsigned>, unsigned> met_;
  std::vector<Suspect> suspects_;
};

}  // namespace hostcuda::trace

#endif
