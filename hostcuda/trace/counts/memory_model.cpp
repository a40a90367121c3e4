#include "counts/memory_model.h"

#include <algorithm>
#include <bit>

namespace hostcuda::trace {
namespace {

// The distinct words or sectors that one request touches.
class Pieces {
 public:
  Pieces(const Request& request, std::uint32_t group, unsigned bytes, unsigned piece_bytes) {
    for (std::uint32_t left = request.active & group; left; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      const std::uint64_t first = request.address[lane] / piece_bytes;
      const std::uint64_t last = (request.address[lane] + bytes - 1) / piece_bytes;
      for (std::uint64_t piece = first; piece <= last; ++piece) add(piece);
    }
    if (is_sorted_) return;  // usually true
    std::sort(piece_.begin(), piece_.begin() + count_);
    count_ = static_cast<unsigned>(std::unique(piece_.begin(), piece_.begin() + count_) -
                                   piece_.begin());
  }
  unsigned count() const { return count_; }
  const std::uint64_t* begin() const { return piece_.data(); }
  const std::uint64_t* end() const { return piece_.data() + count_; }

 private:
  void add(std::uint64_t piece) {
    if (count_ && piece_[count_ - 1] == piece) return;
    is_sorted_ = is_sorted_ && (!count_ || piece_[count_ - 1] < piece);
    piece_[count_++] = piece;
  }
  // An unaligned access touches one word more than an aligned one.
  std::array<std::uint64_t, 32 * (kMaxAccess / kWordBytes + 1)> piece_;
  unsigned count_ = 0;
  bool is_sorted_ = true;
};

constexpr unsigned kLanes = 32;

std::uint32_t lanes(unsigned first, unsigned count) {
  return static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1) << first);
}

unsigned divide_up(unsigned a, unsigned b) { return (a + b - 1) / b; }

Cost wavefronts_of(const Request& request, std::uint32_t group, unsigned bytes) {
  const Pieces words(request, group, bytes, kWordBytes);
  std::array<unsigned, kBanks> in_bank{};
  unsigned fullest = 0;
  for (const std::uint64_t word : words) fullest = std::max(fullest, ++in_bank[word % kBanks]);
  return {fullest, divide_up(words.count(), kBanks)};
}

// True if each lane reads the same address as its partner, the lane whose index differs only in
// `bit`. If only one lane of a pair takes part in the request, the pair is ignored.
bool are_pairs(const Request& request, std::uint32_t group, unsigned bit) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t both = lanes(lane, 1) | lanes(lane ^ bit, 1);
    const bool counts = (request.active & group & both) == both;
    if (counts && request.address[lane] != request.address[lane ^ bit]) return false;
  }
  return true;
}

}  // namespace

Cost sectors(const Request& request, unsigned bytes) {
  const std::uint32_t warp = lanes(0, kLanes);
  const unsigned words = Pieces(request, warp, bytes, kWordBytes).count();
  return {Pieces(request, warp, bytes, kSectorBytes).count(),
          divide_up(words * kWordBytes, kSectorBytes)};
}

Cost wavefronts(const Request& request, unsigned bytes) {
  if (bytes <= kWordBytes) return wavefronts_of(request, lanes(0, kLanes), bytes);
  const unsigned group = kLanes * kWordBytes / bytes;
  Cost all{0, 0};
  const auto add = [&](std::uint32_t served_together) {
    const Cost cost = wavefronts_of(request, served_together, bytes);
    all.actual += cost.actual;
    all.ideal += cost.ideal;
  };
  for (unsigned first = 0; first < kLanes; first += 2 * group) {
    const std::uint32_t two = lanes(first, 2 * group);
    if (are_pairs(request, two, 1) || are_pairs(request, two, 2)) {
      add(two);
    } else {
      add(lanes(first, group));
      add(lanes(first + group, group));
    }
  }
  return all;
}

// All lanes read the same address, so two groups always share a pass (see wavefronts() above).
Cost wavefronts_of_one_address(std::uint32_t active, unsigned bytes) {
  if (bytes <= kWordBytes) return {1, 1};
  const unsigned served_together = 2 * kLanes * kWordBytes / bytes;
  unsigned passes = 0;
  for (unsigned first = 0; first < kLanes; first += served_together)
    passes += (active & lanes(first, served_together)) != 0;
  return {passes, passes};
}

}  // namespace hostcuda::trace
