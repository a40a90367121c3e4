#include "counts/sites.h"

#include <bit>

namespace hostcuda::trace {
namespace {

// True if all lanes access the same word. This is the most frequent and the cheapest kind of
// request.
bool is_one_word(const Request& request, unsigned bytes) {
  if (bytes > kWordBytes || !request.active) return false;
  const std::uint64_t address =
      request.address[static_cast<unsigned>(std::countr_zero(request.active))];
  if (address % kWordBytes + bytes > kWordBytes) return false;
  std::uint64_t different = 0;
  for (unsigned lane = 0; lane < request.address.size(); ++lane)
    if (request.active >> lane & 1) different |= request.address[lane] ^ address;
  return different == 0;
}

}  // namespace

void Site::add(unsigned lanes, const Cost& spent) {
  ++requests;
  executions += lanes;
  cost += spent.actual;
  ideal_cost += spent.ideal;
}

void Site::count(const Request& request) {
  add(static_cast<unsigned>(std::popcount(request.active)),
      is_one_word(request, key.bytes) ? Cost{1, 1}
      : key.space == Space::global    ? sectors(request, key.bytes)
                                      : wavefronts(request, key.bytes));
}

void Site::count_one_address(std::uint32_t lanes) {
  add(static_cast<unsigned>(std::popcount(lanes)),
      key.space == Space::global ? Cost{1, 1} : wavefronts_of_one_address(lanes, key.bytes));
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
