#include "races/epochs.h"

#include <algorithm>

namespace hostcuda::trace {

std::uint32_t Epochs::begin_operation(OperationRecord record) {
  forget_the_past(record);
  if (record.is_kernel) ++launches_;
  operations_.push_back(std::move(record));
  return static_cast<std::uint32_t>(operations_.size() - 1);
}

std::uint32_t Epochs::add(const Epoch& epoch) {
  epochs_.push_back(epoch);
  return first_ + static_cast<std::uint32_t>(epochs_.size() - 1);
}

// Forgets all epochs if all recorded operations precede both the next operation and the next
// accesses of host code. Also forgets them if there are too many.
void Epochs::forget_the_past(const OperationRecord& next) {
  constexpr std::size_t kMaxEpochs = std::size_t{1} << 24;
  const auto is_past = [&](const OperationRecord& known) {
    const Clock& host = host_clock();
    return next.comes_after(known) && known.stream < host.size() &&
           host[known.stream] >= known.number;
  };
  const bool all_past =
      std::all_of(operations_.begin() + first_operation_, operations_.end(), is_past);
  if (!all_past && epochs_.size() < kMaxEpochs) return;
  first_ += static_cast<std::uint32_t>(epochs_.size());
  first_operation_ = static_cast<std::uint32_t>(operations_.size());
  epochs_.clear();
}

}  // namespace hostcuda::trace
