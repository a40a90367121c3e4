#include "races.h"

namespace hostcuda::trace {
namespace {

// Shared memory belongs to one block and its cluster: what another one left in the same bytes is no
// conflict.
bool is_ordered(const Moment& a, const Moment& b, Space space) {
  if (a.launch != b.launch || a.grid_barriers != b.grid_barriers) return true;
  if (a.cluster != b.cluster) return space == Space::shared;
  if (a.block != b.block) return a.cluster_barriers != b.cluster_barriers;
  if (a.thread == b.thread || a.barriers != b.barriers) return true;
  const bool same_warp = a.thread / 32 == b.thread / 32;
  return same_warp && a.warp_calls != b.warp_calls;
}

bool same_thread(const Moment& a, const Moment& b) {
  return a.launch == b.launch && a.block == b.block && a.thread == b.thread;
}

}  // namespace

Races::Word& Races::word_at(std::uint64_t address) {
  const std::uint64_t word = address / kWordBytes;
  const std::uint64_t number = word / kPageWords;
  if (number != recent_number_) {
    std::unique_ptr<Page>& page = pages_[number];
    if (!page) page = std::make_unique<Page>();
    recent_ = page.get();
    recent_number_ = number;
  }
  return (*recent_)[word % kPageWords];
}

void Races::check(const Access& earlier, const Access& later, Space space, std::uint64_t offset) {
  if (!(earlier.bytes & later.bytes) || (earlier.is_atomic && later.is_atomic)) return;
  if (is_ordered(earlier.when, later.when, space)) return;
  const auto [race, is_new] =
      found_.try_emplace({earlier.site, later.site}, Race{earlier, later, offset});
  ++race->second.count;
}

void Races::access(std::uint64_t address, const Access& access, const SiteKey& site,
                   std::uint64_t memory_begin) {
  Word& word = word_at(address);
  const std::uint64_t offset = address - memory_begin;
  check(word.write, access, site.space, offset);
  if (site.kind == Kind::load) {
    if (!same_thread(word.reads[0].when, access.when)) word.reads[1] = word.reads[0];
    word.reads[0] = access;
    return;
  }
  for (const Access& read : word.reads) check(read, access, site.space, offset);
  word.write = access;
}

}  // namespace hostcuda::trace
