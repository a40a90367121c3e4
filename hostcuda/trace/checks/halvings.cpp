#include "checks/halvings.h"

#include <algorithm>

namespace hostcuda::trace {

void Halvings::store(const void* code, Array& array, std::uint32_t interval) {
  const auto known = std::ranges::find(stores_, code, &Stores::code);
  if (known == stores_.end()) {
    stores_.push_back({code, &array, interval, {1}});
    return;
  }
  if (known->interval == interval) {
    ++known->counts.back();
    return;
  }
  known->interval = interval;
  known->counts.push_back(1);
}

// If each count is half of the previous count (rounded down) and the last count is 1, returns the
// last odd count before that 1.
std::optional<unsigned> Halvings::odd_count(const std::vector<unsigned>& counts) {
  constexpr std::size_t kLeast = 3;
  if (counts.size() < kLeast || counts.back() != 1) return std::nullopt;
  std::optional<unsigned> odd;
  for (std::size_t i = 0; i + 1 < counts.size(); ++i) {
    if (counts[i + 1] != counts[i] / 2) return std::nullopt;
    if (counts[i] % 2) odd = counts[i];
  }
  return odd;
}

std::vector<Halvings::Lost> Halvings::lost() const {
  std::vector<Lost> found;
  for (const Stores& stores : stores_)
    if (const std::optional<unsigned> odd = odd_count(stores.counts))
      found.push_back({stores.code, stores.array, *odd});
  return found;
}

}  // namespace hostcuda::trace
