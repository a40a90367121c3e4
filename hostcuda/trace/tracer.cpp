#include "tracer.h"

#include <algorithm>
#include <utility>

#include "execution/block.h"

namespace hostcuda::trace {
namespace {

bool has_come_to_rest(const BlockState& block, unsigned warp) {
  const unsigned end = std::min(block.count(), (warp + 1) * kLanes);
  for (unsigned i = warp * kLanes; i < end; ++i) {
    const Status status = block.thread(i).status;
    if (status != Status::at_barrier && status != Status::finished) return false;
  }
  return true;
}

uint3 position(unsigned number, const dim3& shape) {
  return {number % shape.x, number / shape.x % shape.y, number / shape.x / shape.y};
}

std::uint8_t bytes_of_word(std::uint64_t address, unsigned bytes) {
  const unsigned first = address % kWordBytes;
  const unsigned end = std::min(first + bytes, kWordBytes);
  return static_cast<std::uint8_t>((1u << end) - (1u << first));
}

}  // namespace

uint3 Tracer::block_of(const Moment& when) const {
  return position(when.block, launches_[when.launch].grid);
}

uint3 Tracer::thread_of(const Moment& when) const {
  return position(when.thread, launches_[when.launch].block);
}

void Tracer::grid_begins(const Launch& launch) {
  const auto known = std::find_if(kernels_.begin(), kernels_.end(), [&](const Kernel& kernel) {
    return kernel.name == launch.site.kernel;
  });
  kernel_ = static_cast<std::uint32_t>(known - kernels_.begin());
  if (known == kernels_.end()) kernels_.push_back({launch.site.kernel});
  Kernel& kernel = kernels_[kernel_];
  ++kernel.launches;
  kernel.blocks += launch.blocks();
  kernel.threads += launch.blocks() * launch.threads();
  blocks_.clear();
  launches_.push_back({launch.grid, launch.block});
  recent_ = {};
}

void Tracer::block_begins(const BlockState& block) {
  block_ = &blocks_[block.number()];
  *block_ = {};
  Moment& now = block_->now;
  now.launch = static_cast<std::uint32_t>(launches_.size() - 1);
  now.block = static_cast<std::uint32_t>(block.number());
  now.cluster = static_cast<std::uint32_t>(block.launch().cluster_of(block.number()));
  if (const std::size_t size = block.launch().dynamic_shared_bytes)
    shared_variable(block.dynamic_shared(), size, block.dynamic_shared());
}

void Tracer::settle() {
  for (WarpLog& log : logs_) log.settle(sites_);
}

void Tracer::block_pauses() { settle(); }

void Tracer::block_resumes(const BlockState& block) { block_ = &blocks_[block.number()]; }

void Tracer::block_ended() {
  settle();
  blocks_.erase(block_->now.block);
}

void Tracer::shared_variable(void* address, std::size_t size, const void* identity) {
  block_->shared.push_back(
      {{static_cast<const char*>(address), size}, static_cast<const char*>(identity)});
}

void Tracer::barrier_passed(const BlockState& block, Scope scope) {
  settle();
  Moment& now = blocks_[block.number()].now;
  ++now.barriers;
  if (scope == Scope::cluster) ++now.cluster_barriers;
  if (scope == Scope::grid) ++now.grid_barriers;
}

void Tracer::warp_met(unsigned warp) { ++block_->warp_calls[warp]; }

void Tracer::barrier_diverged(const BlockState& block) {
  Divergence found{kernel_, block.launch().block_index(block.number()), {}};
  for (unsigned i = 0; i < block.count(); ++i) {
    const Thread& thread = block.thread(i);
    if (thread.status != Status::at_barrier) continue;
    const auto place =
        std::find_if(found.places.begin(), found.places.end(), [&](const Divergence::Place& known) {
          return known.line == thread.line && known.file == thread.file;
        });
    if (place == found.places.end())
      found.places.push_back({thread.file, thread.line, 1, thread.index});
    else
      ++place->threads;
  }
  // The same two barriers in every block are one mistake.
  const bool known =
      std::any_of(divergences_.begin(), divergences_.end(), [&](const Divergence& other) {
        return other.kernel == kernel_ &&
               std::equal(other.places.begin(), other.places.end(), found.places.begin(),
                          found.places.end(), [](const auto& a, const auto& b) {
                            return a.line == b.line && a.file == b.file;
                          });
      });
  if (!known) divergences_.push_back(std::move(found));
}

bool Tracer::find_memory(const char* address, Memory& memory) {
  for (const auto& [range, identity] : block_->shared) {
    if (!range.contains(address)) continue;
    const auto begin = reinterpret_cast<std::uint64_t>(identity);
    memory = {Space::shared, begin, begin + static_cast<std::uint64_t>(address - range.begin)};
    return true;
  }
  if (!recent_.contains(address)) {
    const DeviceRange range = device_range(address);
    // If not in a cluster: a local variable, or the emulator's own.
    if (!range.size) return find_shared_of_other_block(address, memory);
    recent_ = range;
  }
  memory = {Space::global, reinterpret_cast<std::uint64_t>(recent_.begin),
            reinterpret_cast<std::uint64_t>(address)};
  return true;
}

bool Tracer::find_shared_of_other_block(const char* address, Memory& memory) const {
  if (running_block->launch().cluster_size() == 1) return false;
  for (const auto& [number, block] : blocks_)
    for (const auto& [range, identity] : block.shared) {
      if (!DeviceRange{identity, range.size}.contains(address)) continue;
      memory = {Space::shared, reinterpret_cast<std::uint64_t>(identity),
                reinterpret_cast<std::uint64_t>(address)};
      return true;
    }
  return false;
}

// Keeps the logs short: the requests of a warp are complete once all its threads wait or are done.
void Tracer::leave_warp(unsigned warp) {
  if (has_come_to_rest(*running_block, warp)) logs_[warp].settle(sites_);
}

void Tracer::access(const void* pointer, unsigned bytes, unsigned piece, Kind kind,
                    const void* code) {
  Memory memory;
  // Templates that host code and kernels share are instrumented everywhere, even when called here.
  if (kernel_observer != this || !running_block || busy_) return;
  if (!find_memory(static_cast<const char*>(pointer), memory)) return;
  busy_ = true;
  const unsigned thread = running_block->current_number();
  const unsigned warp = thread / kLanes;
  if (warp != warp_) leave_warp(std::exchange(warp_, warp));
  Moment when = block_->now;
  when.thread = static_cast<std::uint16_t>(thread);
  when.warp_calls = block_->warp_calls[warp];

  const std::uint64_t begin = memory.identity;
  for (unsigned done = 0, part = 0; done < bytes; done += piece, ++part) {
    const unsigned size = std::min(piece, bytes - done);
    const SiteKey key{
        reinterpret_cast<std::uint64_t>(code), kernel_,      static_cast<std::uint8_t>(part),
        static_cast<std::uint8_t>(size),       memory.space, kind};
    const std::uint32_t site = sites_.number_of(key);
    logs_[warp].add(thread % kLanes, site, begin + done);
    if (logs_[warp].is_full()) logs_[warp].settle(sites_);
    for (unsigned word = 0; word < size; word += kWordBytes) {
      const std::uint64_t address = begin + done + word;
      races_.access(address,
                    {when, site, bytes_of_word(address, size - word), kind == Kind::atomic}, key,
                    memory.begin);
    }
  }
  busy_ = false;
}

}  // namespace hostcuda::trace
