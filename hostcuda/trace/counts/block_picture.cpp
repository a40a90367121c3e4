#include "counts/block_picture.h"

namespace hostcuda::trace {

void BlockPicture::block_runs(std::uint32_t kernel, std::uint64_t launches,
                              const BlockState& block) {
  running_ = nullptr;
  if (launches > 1 || block.number() > 0) return;
  running_ = &blocks_[kernel];
  const dim3 dimensions = block.launch().block;
  running_->dimensions = {dimensions.x, dimensions.y, dimensions.z};
  if (!running_->phases) running_->phases = 1;
}

void BlockPicture::barrier_passed(const BlockState& block) {
  if (!running_ || block.number() > 0) return;
  if (running_->phases++ > kMaxPhases) return;
  const Thread& thread = block.thread(0);
  running_->barriers.push_back(
      thread.file ? std::string(thread.file) + ":" + std::to_string(thread.line) : "");
}

void BlockPicture::turn_to(std::uint32_t phase, std::uint32_t warp) {
  phase_ = phase;
  warp_ = warp;
}

void BlockPicture::saw(std::uint32_t site, const Request& request) {
  if (!running_ || phase_ >= kMaxPhases) return;
  Seen& seen = running_->seen[{phase_, warp_, site}];
  if (!seen.requests++) seen.first = request;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    seen.executions[lane] += request.active >> lane & 1;
}

}  // namespace hostcuda::trace
