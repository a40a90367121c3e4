// What the lanes of one warp accessed, and how their accesses combine into requests.
#ifndef HOSTCUDA_TRACE_COUNTS_WARP_LOG_H
#define HOSTCUDA_TRACE_COUNTS_WARP_LOG_H

#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "counts/sites.h"

namespace hostcuda::trace {

// An access of a lane: the number of the site, and an address of user space, which has 48 bits.
class LoggedAccess {
 public:
  LoggedAccess(std::uint32_t site, std::uint64_t address)
      : word_(std::uint64_t{site} << kAddressBits | (address & kMask)) {}
  std::uint32_t site() const { return static_cast<std::uint32_t>(word_ >> kAddressBits); }
  std::uint64_t address() const { return word_ & kMask; }

 private:
  static constexpr unsigned kAddressBits = 48;
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << kAddressBits) - 1;
  std::uint64_t word_;
};

// The accesses of one lane. Their memory goes from hand to hand: what was written last is still in
// the cache.
class LaneLog {
 public:
  LaneLog() = default;
  LaneLog(const LaneLog&) = delete;
  LaneLog& operator=(const LaneLog&) = delete;
  void add(LoggedAccess access) {
    if (next_ == end_) grow();
    *next_++ = access;
  }
  bool has_room() const { return next_ != end_; }
  const LoggedAccess* begin() const { return begin_; }
  const LoggedAccess* end() const { return next_; }
  bool empty() const { return begin_ == next_; }
  void give_back();

 private:
  void grow();
  LoggedAccess *begin_ = nullptr, *next_ = nullptr, *end_ = nullptr;
};

// Threads run one after another here. On a GPU the lanes of a warp run together: the accesses of
// each lane's k-th passage over a site are one request. Passages are counted from barrier to
// barrier, so that a lane that skipped one does not shift all that follow.
class WarpLog {
 public:
  void add(unsigned lane, std::uint32_t site, std::uint64_t address) {
    lanes_[lane].add({site, address});
    ++size_;
  }
  // False, and nothing is added, where that would take more than a moment.
  bool add_at_once(unsigned lane, std::uint32_t site, std::uint64_t address) {
    if (is_full() || !lanes_[lane].has_room()) return false;
    add(lane, site, address);
    return true;
  }
  // So long between two barriers is only a thread that spins. Its memory has a bound.
  bool is_full() const { return size_ >= kMaxAccesses; }
  // Counts all requests and forgets them.
  void settle(Sites& sites) {
    if (size_) count_all(sites);
  }

 private:
  struct Requests {
    std::vector<Request> of_passage;
    std::uint32_t passages = 0;  // of the lane in hand
  };
  void count_all(Sites& sites);
  std::size_t count_in_step(Sites& sites) const;
  static constexpr std::size_t kMaxAccesses = 1 << 25;
  std::array<LaneLog, 32> lanes_;
  std::size_t size_ = 0;
  std::vector<Requests> requests_;  // by site
};

}  // namespace hostcuda::trace

#endif
