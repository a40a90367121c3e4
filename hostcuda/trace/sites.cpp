#include "sites.h"

#include <bit>

namespace hostcuda::trace {

void Site::count(const Request& request) {
  const Cost spent =
      key.space == Space::global ? sectors(request, key.bytes) : wavefronts(request, key.bytes);
  ++requests;
  executions += static_cast<unsigned>(std::popcount(request.active));
  cost += spent.actual;
  ideal_cost += spent.ideal;
}

std::uint32_t Sites::number_of(const SiteKey& key) {
  Recent& recent = recent_[(key.code ^ key.code >> 10 ^ key.part) % recent_.size()];
  if (recent.key == key) return recent.number;
  const auto [found, is_new] = numbers_.try_emplace(key, static_cast<std::uint32_t>(sites_.size()));
  if (is_new) sites_.push_back({key});
  recent = {key, found->second};
  return found->second;
}

}  // namespace hostcuda::trace
