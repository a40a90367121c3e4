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
  now_.launch = static_cast<std::uint32_t>(launches_.size());
  launches_.push_back({launch.grid, launch.block});
  recent_ = {};
}

void Tracer::block_begins(const BlockState& block) {
  const dim3& grid = block.launch().grid;
  now_.block = (blockIdx.z * grid.y + blockIdx.y) * grid.x + blockIdx.x;
  now_.barriers = 0;
  warp_calls_.fill(0);
  shared_variables_.clear();
  if (const std::size_t size = block.launch().dynamic_shared_bytes)
    shared_variables_.push_back({static_cast<const char*>(block.dynamic_shared()), size});
}

void Tracer::block_ended() {
  for (WarpLog& log : logs_) log.settle(sites_);
}

void Tracer::shared_variable(void* address, std::size_t size, const char*) {
  shared_variables_.push_back({static_cast<const char*>(address), size});
}

void Tracer::barrier_passed() {
  block_ended();
  ++now_.barriers;
}

void Tracer::warp_met(unsigned warp) { ++warp_calls_[warp]; }

void Tracer::barrier_diverged(const BlockState& block) {
  Divergence found{kernel_, blockIdx, {}};
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
  for (const DeviceRange& variable : shared_variables_) {
    if (!variable.contains(address)) continue;
    memory = {Space::shared, reinterpret_cast<std::uint64_t>(variable.begin)};
    return true;
  }
  if (!recent_.contains(address)) {
    const DeviceRange range = device_range(address);
    if (!range.size) return false;  // a local variable, or the emulator's own
    recent_ = range;
  }
  memory = {Space::global, reinterpret_cast<std::uint64_t>(recent_.begin)};
  return true;
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
  Moment when = now_;
  when.thread = static_cast<std::uint16_t>(thread);
  when.warp_calls = warp_calls_[warp];

  const auto begin = reinterpret_cast<std::uint64_t>(pointer);
  for (unsigned done = 0, part = 0; done < bytes; done += piece, ++part) {
    const unsigned size = std::min(piece, bytes - done);
    const SiteKey key{
        reinterpret_cast<std::uint64_t>(code), kernel_,      static_cast<std::uint8_t>(part),
        static_cast<std::uint8_t>(size),       memory.space, kind};
    const std::uint32_t site = sites_.number_of(key);
    logs_[warp].add(thread % kLanes, site, begin + done);
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
