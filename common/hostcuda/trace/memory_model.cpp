#include "memory_model.h"

#include <algorithm>

namespace hostcuda::trace {
namespace {

// The different pieces of memory (words, sectors) that a request touches.
class Pieces {
 public:
  Pieces(const Request& request, unsigned bytes, unsigned piece_bytes) {
    for (unsigned lane = 0; lane < request.lanes; ++lane) {
      const std::uint64_t first = request.address[lane] / piece_bytes;
      const std::uint64_t last = (request.address[lane] + bytes - 1) / piece_bytes;
      for (std::uint64_t piece = first; piece <= last; ++piece) piece_[count_++] = piece;
    }
    std::sort(piece_.begin(), piece_.begin() + count_);
    count_ = static_cast<unsigned>(std::unique(piece_.begin(), piece_.begin() + count_) -
                                   piece_.begin());
  }
  unsigned count() const { return count_; }
  const std::uint64_t* begin() const { return piece_.data(); }
  const std::uint64_t* end() const { return piece_.data() + count_; }

 private:
  // An access that is not aligned touches one word more than it has.
  std::array<std::uint64_t, 32 * (kMaxAccess / kWordBytes + 1)> piece_;
  unsigned count_ = 0;
};

unsigned divide_up(unsigned a, unsigned b) { return (a + b - 1) / b; }

}  // namespace

Cost sectors(const Request& request, unsigned bytes) {
  const unsigned words = Pieces(request, bytes, kWordBytes).count();
  return {Pieces(request, bytes, kSectorBytes).count(),
          divide_up(words * kWordBytes, kSectorBytes)};
}

Cost wavefronts(const Request& request, unsigned bytes) {
  const Pieces words(request, bytes, kWordBytes);
  std::array<unsigned, kBanks> in_bank{};
  unsigned fullest = 0;
  for (const std::uint64_t word : words) fullest = std::max(fullest, ++in_bank[word % kBanks]);
  return {fullest, divide_up(words.count(), kBanks)};
}

}  // namespace hostcuda::trace
