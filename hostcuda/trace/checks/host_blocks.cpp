#include "checks/host_blocks.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <iterator>

namespace hostcuda::trace {
namespace {

// True while this thread erases from blocks_. Erasing frees memory and may therefore call
// released() again, which must not lock the mutex a second time.
thread_local bool is_busy = false;

}  // namespace

void HostBlocks::allocated(void* begin, std::size_t size) {
  const std::lock_guard lock(mutex_);
  blocks_[static_cast<const char*>(begin)] = {size, malloc_usable_size(begin)};
  count_ = blocks_.size();
}

void HostBlocks::released(const void* begin) {
  if (is_busy || !count_) return;
  is_busy = true;
  {
    const std::lock_guard lock(mutex_);
    blocks_.erase(static_cast<const char*>(begin));
    count_ = blocks_.size();
  }
  is_busy = false;
}

// A library that is linked dynamically may have freed the block without notice.
bool HostBlocks::is_still_there(const char* begin, const Block& block) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto header = reinterpret_cast<std::uintptr_t>(begin - 2 * sizeof(std::size_t));
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(header / page * page), 1, &resident) == 0 &&
         malloc_usable_size(const_cast<char*>(begin)) == block.usable;
}

std::size_t HostBlocks::bytes_from(const void* address) {
  const std::lock_guard lock(mutex_);
  const auto* byte = static_cast<const char*>(address);
  const auto next = blocks_.upper_bound(byte);
  if (next == blocks_.begin()) return SIZE_MAX;
  const auto& [begin, block] = *std::prev(next);
  const auto offset = static_cast<std::size_t>(byte - begin);
  return offset < block.size && is_still_there(begin, block) ? block.size - offset : SIZE_MAX;
}

HostBlocks& host_blocks() {
  static auto* blocks = new HostBlocks;
  return *blocks;
}

}  // namespace hostcuda::trace
