// Records one block of each kernel for a picture: the requests that its threads make between its
// barriers. HOSTCUDA_TRACE_BLOCK turns this on.
#ifndef HOSTCUDA_TRACE_COUNTS_BLOCK_PICTURE_H
#define HOSTCUDA_TRACE_COUNTS_BLOCK_PICTURE_H

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "counts/sites.h"
#include "execution/block_state.h"

namespace hostcuda::trace {

class BlockPicture : public Witness {
 public:
  // More phases would not fit on a screen.
  static constexpr unsigned kMaxPhases = 32;

  struct Place {
    std::uint32_t phase;  // number of barriers that the block had passed before the request
    std::uint32_t warp;
    std::uint32_t site;
    auto operator<=>(const Place&) const = default;
  };
  struct Seen {
    std::array<std::uint32_t, kLanes> executions{};
    std::uint32_t requests = 0;
    Request first;
  };
  struct Block {
    uint3 dimensions{};
    unsigned phases = 0;                // number of phases, including those without a picture
    std::vector<std::string> barriers;  // source line of each barrier in the picture
    std::map<Place, Seen> seen;
  };

  // Called when this block starts or resumes. Only the first block of a kernel's first launch is
  // recorded.
  void block_runs(std::uint32_t kernel, std::uint64_t launches, const BlockState& block);
  void barrier_passed(const BlockState& block);
  // Called before requests of this warp are counted.
  void turn_to(std::uint32_t phase, std::uint32_t warp);
  void saw(std::uint32_t site, const Request& request) override;

  const std::map<std::uint32_t, Block>& blocks() const { return blocks_; }  // key: the kernel

 private:
  std::map<std::uint32_t, Block> blocks_;
  Block* running_ = nullptr;  // null while a block without a picture runs
  std::uint32_t phase_ = 0, warp_ = 0;
};

}  // namespace hostcuda::trace

#endif
