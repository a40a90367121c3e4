// Data races: two accesses to the same bytes by different threads, at least one of them a write and
// not both atomic, with nothing between them that makes one happen before the other.
#ifndef HOSTCUDA_TRACE_RACES_H
#define HOSTCUDA_TRACE_RACES_H

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>

#include "sites.h"

namespace hostcuda::trace {

// The thread of an access and its time: counts of launches, of blocks, of barriers passed by the
// block, by its cluster and by its grid, and of warp functions completed by the warp. Different
// launches count as ordered. Without clusters each block is one.
struct Moment {
  std::uint32_t launch = 0, block = 0, cluster = 0;
  std::uint32_t barriers = 0, cluster_barriers = 0, grid_barriers = 0, warp_calls = 0;
  std::uint16_t thread = 0;
};

struct Access {
  Moment when;
  std::uint32_t site = 0;
  std::uint8_t bytes = 0;  // of its word, as a mask; 0: there was no access
  bool is_atomic = false;
};

struct Race {
  Access earlier,
      later;  // the first time that it was seen; "earlier" is only the order of emulation
  std::uint64_t offset;  // in the allocation or the variable
  std::uint64_t count = 0;
};

class Races {
 public:
  // `memory_begin` is where the allocation or the shared variable begins.
  void access(std::uint64_t address, const Access& access, const SiteKey& site,
              std::uint64_t memory_begin);

  using Sites = std::pair<std::uint32_t, std::uint32_t>;  // of the earlier and the later access
  const std::map<Sites, Race>& found() const { return found_; }

 private:
  // The last write of a word, and its last readers: two, so that one is not the writer itself.
  struct Word {
    Access write;
    std::array<Access, 2> reads;
  };
  static constexpr std::size_t kPageWords = 1024;
  using Page = std::array<Word, kPageWords>;

  Word& word_at(std::uint64_t address);
  void check(const Access& earlier, const Access& later, Space space, std::uint64_t offset);

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t recent_number_ = ~std::uint64_t{0};
  Page* recent_ = nullptr;
  std::map<Sites, Race> found_;
};

}  // namespace hostcuda::trace

#endif
