// What the lanes of one warp accessed, and how their accesses combine into requests.
#ifndef HOSTCUDA_TRACE_WARP_LOG_H
#define HOSTCUDA_TRACE_WARP_LOG_H

#include <array>
#include <cstdint>
#include <vector>

#include "sites.h"

namespace hostcuda::trace {

// Threads run one after another here. On a GPU the lanes of a warp run together: the accesses of
// each lane's k-th passage over a site are one request. Passages are counted from barrier to
// barrier, so that a lane that skipped one does not shift all that follow.
class WarpLog {
 public:
  void add(unsigned lane, std::uint32_t site, std::uint64_t address) {
    lanes_[lane].push_back({address, site});
    ++size_;
  }
  // So long between two barriers is only a thread that spins. Its memory has a bound.
  bool is_full() const { return size_ >= kMaxAccesses; }
  // Counts all requests and forgets them.
  void settle(Sites& sites);

 private:
  struct Access {
    std::uint64_t address;
    std::uint32_t site;
  };
  struct Requests {
    std::vector<Request> of_passage;
    std::uint32_t passages = 0;  // of the lane in hand
  };
  static constexpr std::size_t kMaxAccesses = 1 << 25;
  std::array<std::vector<Access>, 32> lanes_;
  std::size_t size_ = 0;
  std::vector<Requests> requests_;  // by site
};

}  // namespace hostcuda::trace

#endif
