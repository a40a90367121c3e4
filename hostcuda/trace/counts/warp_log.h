// The accesses of one warp's lanes, which are combined into requests.
#ifndef HOSTCUDA_TRACE_COUNTS_WARP_LOG_H
#define HOSTCUDA_TRACE_COUNTS_WARP_LOG_H

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <vector>

#include "counts/sites.h"

namespace hostcuda::trace {

// A run stands for accesses that equal the entries from `begin` to `end` in the log of lane `lane`.
struct Run {
  unsigned lane;
  std::size_t begin, end;
};

// An access of a lane: the site's number and the 48 bits of an address in user space. A
// LoggedAccess may also store a run: the lane in five bits, and the beginning and size in the other
// bits of the address.
class LoggedAccess {
 public:
  LoggedAccess(std::uint32_t site, std::uint64_t address)
      : word_(std::uint64_t{site} << kAddressBits | (address & kMask)) {}
  explicit LoggedAccess(const Run& run)
      : LoggedAccess(kRun, run.lane | run.begin << kLaneBits |
                               (run.end - run.begin) << (kLaneBits + kBeginBits)) {}
  std::uint32_t site() const { return static_cast<std::uint32_t>(word_ >> kAddressBits); }
  std::uint64_t address() const { return word_ & kMask; }
  bool is_run() const { return site() == kRun; }
  Run run() const {
    const std::size_t begin = address() >> kLaneBits & ((std::uint64_t{1} << kBeginBits) - 1);
    return {static_cast<unsigned>(address() & 31), begin,
            begin + (address() >> (kLaneBits + kBeginBits))};
  }
  static constexpr std::size_t kLongestRun = (std::size_t{1} << 19) - 1;
  static constexpr std::size_t kLastBegin = (std::size_t{1} << 24) - 1;

 private:
  static constexpr unsigned kAddressBits = 48, kLaneBits = 5, kBeginBits = 24;
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << kAddressBits) - 1;
  static constexpr std::uint32_t kRun = 0xffff;
  std::uint64_t word_;
};

// The accesses of one lane. A lane reuses the memory of another lane's old log, because recently
// written memory is still in the cache.
class LaneLog {
 public:
  LaneLog() = default;
  LaneLog(const LaneLog&) = delete;
  LaneLog& operator=(const LaneLog&) = delete;
  [[gnu::always_inline]] void add(LoggedAccess access) {
    if (next_ == end_) grow();
    *next_++ = access;
  }
  const LoggedAccess* begin() const { return begin_; }
  const LoggedAccess* end() const { return next_; }
  bool empty() const { return begin_ == next_; }
  std::size_t size() const { return static_cast<std::size_t>(next_ - begin_); }
  void give_back();

 private:
  void grow();
  LoggedAccess *begin_ = nullptr, *next_ = nullptr, *end_ = nullptr;
};

// Combines accesses into requests. Threads run one after another here, but the lanes of a warp run
// together on a GPU, so the k-th accesses of the lanes at a site form one request. Counting
// restarts at each barrier, so that a lane that skips an access does not shift all its later
// accesses.
class WarpLog {
 public:
  [[gnu::always_inline]] void add(unsigned lane, std::uint32_t site, std::uint64_t address) {
    lanes_[lane].add({site, address});
    ++size_;
  }
  // Records that this lane made the same accesses as lane run.lane, whose log contains these
  // accesses themselves, not a run.
  void add_run(unsigned lane, const Run& run) {
    lanes_[lane].add(LoggedAccess(run));
    ++size_;
  }
  std::size_t size_of(unsigned lane) const { return lanes_[lane].size(); }
  // Returns the site of the lane's last access, if it has made one.
  std::optional<std::uint32_t> last_site(unsigned lane) const;
  // Adds the sites of the lane's accesses with these numbers.
  void add_sites(unsigned lane, std::size_t begin, std::size_t end,
                 std::set<std::uint32_t>& sites) const;
  // Limits the log's memory. Only a warp with a spinning thread makes kMaxAccesses accesses between
  // two barriers.
  bool is_full() const { return size_ >= kMaxAccesses; }
  // Counts all logged requests and clears the log.
  void settle(Sites& sites) {
    if (size_) count_all(sites);
  }

 private:
  struct Requests {
    std::vector<Request> of_passage;
    std::uint32_t passages = 0;  // number of the current lane's accesses at this site
  };
  class Reader;
  void count_all(Sites& sites);
  void count_in_step(std::vector<Reader>& readers, Sites& sites) const;
  std::size_t count_runs(std::vector<Reader>& readers, Sites& sites) const;
  static constexpr std::size_t kMaxAccesses = 1 << 25;
  std::array<LaneLog, 32> lanes_;
  std::size_t size_ = 0;
  std::vector<Requests> requests_;  // index: the site
};

}  // namespace hostcuda::trace

#endif
