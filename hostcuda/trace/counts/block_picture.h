// One block of each kernel, request by request: what its threads accessed between its barriers.
// Asked for by HOSTCUDA_TRACE_BLOCK, for a picture.
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
  // A picture of more has no room on a screen.
  static constexpr unsigned kMaxPhases = 32;

  struct Place {
    std::uint32_t phase;  // how many barriers of the block came before
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
    unsigned phases = 0;                // also those without a picture
    std::vector<std::string> barriers;  // where each is, as long as there are pictures
    std::map<Place, Seen> seen;
  };

  // The block that runs from here on; only the first one of a kernel's first launch has a picture.
  void block_runs(std::uint32_t kernel, std::uint64_t launches, const BlockState& block);
  void barrier_passed(const BlockState& block);
  // Whose requests come next.
  void turn_to(std::uint32_t phase, std::uint32_t warp);
  void saw(std::uint32_t site, const Request& request) override;

  const std::map<std::uint32_t, Block>& blocks() const { return blocks_; }  // by kernel

 private:
  std::map<std::uint32_t, Block> blocks_;
  Block* running_ = nullptr;  // null: one without a picture
  std::uint32_t phase_ = 0, warp_ = 0;
};

}  // namespace hostcuda::trace

#endif
