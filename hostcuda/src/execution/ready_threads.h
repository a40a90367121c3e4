// The threads of a block that can run, and the choice of the next one. By default, threads take
// turns: they run in the order in which they became ready. Every thread then reaches its next
// barrier before any thread continues, so this order hides a missing barrier that matters only if
// one warp is ahead of the others. In a skewed order, threads run by rank: the warp with the first
// rank runs until a barrier of the block stops it, and only then do other warps run. Both schedules
// are possible on a GPU.
#ifndef HOSTCUDA_SRC_EXECUTION_READY_THREADS_H
#define HOSTCUDA_SRC_EXECUTION_READY_THREADS_H

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "execution/block_state.h"

namespace hostcuda {

class ReadyThreads {
 public:
  void clear() {
    if (ranked_ != 0) ranks_.fill(0);
    begin_ = end_ = ranked_ = 0;
    skewed_ = false;
  }
  bool empty() const { return size() == 0; }
  unsigned size() const { return end_ - begin_ + ranked_; }

  // From now on threads run in the order in which they become ready.
  void take_turns() { skewed_ = false; }
  // From now on threads run by rank, which is their position in `order`. Does nothing if threads
  // that were added by rank are still ready.
  void skew(const std::vector<std::uint16_t>& order) {
    if (ranked_ != 0) return;
    skewed_ = true;
    by_rank_ = order;
    rank_.resize(order.size());
    for (std::size_t rank = 0; rank < order.size(); ++rank)
      rank_[order[rank]] = static_cast<std::uint16_t>(rank);
  }

  void add(unsigned i) { skewed_ ? add_by_rank(i) : add_last(i); }
  // Adds a spinning thread. It runs after all other ready threads, whatever its rank.
  void add_last(unsigned i) { ring_[end_++ % kMaxThreads] = static_cast<std::uint16_t>(i); }
  unsigned take() { return ranked_ ? take_first_rank() : ring_[begin_++ % kMaxThreads]; }

 private:
  void add_by_rank(unsigned i) {
    const unsigned rank = rank_[i];
    ranks_[rank / 64] |= std::uint64_t{1} << rank % 64;
    ++ranked_;
  }
  unsigned take_first_rank() {
    unsigned word = 0;
    while (ranks_[word] == 0) ++word;
    const auto bit = static_cast<unsigned>(std::countr_zero(ranks_[word]));
    ranks_[word] &= ranks_[word] - 1;
    --ranked_;
    return by_rank_[64 * word + bit];
  }

  std::array<std::uint16_t, kMaxThreads> ring_;
  unsigned begin_ = 0, end_ = 0;
  bool skewed_ = false;
  unsigned ranked_ = 0;                                  // number of bits set in ranks_
  std::array<std::uint64_t, kMaxThreads / 64> ranks_{};  // one bit per thread
  std::vector<std::uint16_t> by_rank_, rank_;
};

}  // namespace hostcuda

#endif
