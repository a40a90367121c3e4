// Counts the calls of warp functions, for tools that observe kernels.
#ifndef HOSTCUDA_SRC_EXECUTION_WARP_CALLS_H
#define HOSTCUDA_SRC_EXECUTION_WARP_CALLS_H

#include <cstdint>

#include "cuda_runtime.h"
#include "records/json.h"

namespace hostcuda {

// The calls of one kind: how often warps made them, and the number of lanes that took part.
struct WarpCalls {
  std::uint64_t requests = 0, executions = 0;

  void add(unsigned lanes) {
    ++requests;
    executions += static_cast<unsigned>(__builtin_popcount(lanes));
  }
  Json as_json() const { return {{"requests", requests}, {"executions", executions}}; }
};

struct WarpCounts {
  WarpCalls shuffles;  // also __match_..._sync and __reduce_..._sync
  WarpCalls votes;     // also __activemask

  void add(WarpOperation operation, unsigned lanes) {
    if (operation == WarpOperation::shuffle || operation == WarpOperation::gather)
      shuffles.add(lanes);
    else if (operation != WarpOperation::sync)
      votes.add(lanes);
  }
};

}  // namespace hostcuda

#endif
