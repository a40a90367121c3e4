// Counts streams whose kernels a GPU may run at the same time, because nothing orders them.
#ifndef HOSTCUDA_TRACE_COUNTS_OVERLAP_H
#define HOSTCUDA_TRACE_COUNTS_OVERLAP_H

#include <algorithm>
#include <cstddef>
#include <map>

#include "races/epochs.h"

namespace hostcuda::trace {

class Overlap {
 public:
  void kernel_begins(const OperationRecord& kernel) {
    const auto may_run_beside = [&](const auto& last) {
      return !kernel.comes_after(last.second) && !last.second.comes_after(kernel);
    };
    last_.erase(kernel.stream);
    const auto others = static_cast<std::size_t>(std::ranges::count_if(last_, may_run_beside));
    at_once_ = std::max(at_once_, others + 1);
    last_.emplace(kernel.stream, kernel);
  }
  std::size_t streams() const { return last_.size(); }
  std::size_t at_once() const { return at_once_; }

 private:
  std::map<unsigned, OperationRecord> last_;  // the last kernel of each stream
  std::size_t at_once_ = 0;
};

}  // namespace hostcuda::trace

#endif
