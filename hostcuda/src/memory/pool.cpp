#include "memory/pool.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstring>

namespace hostcuda {
namespace {

// Twice what 16 devices have by default. qemu-user keeps 16 bytes per reserved page, so a
// reservation that costs Linux nothing costs 1 GiB there.
constexpr std::size_t kReserved = std::size_t{1} << 38;
constexpr std::size_t kUnit = 256;  // the alignment that cudaMalloc guarantees
constexpr std::size_t kGuardBefore = kUnit, kGuardPast = 4096;
constexpr int kGuardByte = 0xa7;
// Bytes of inaccessible addresses below the first block, to catch negative indices and indices that
// were read from poisoned memory.
constexpr std::size_t kFirst = std::size_t{64} << 20;
constexpr std::size_t kOpenedAtOnce = std::size_t{8} << 20;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
// If a freed allocation is at least this large, its pages go back to the system, as with the C
// library's free().
constexpr std::size_t kGivenBack = std::size_t{32} << 20;

std::size_t next_multiple(std::size_t size, std::size_t unit) {
  return (size + unit - 1) / unit * unit;
}

char* next_multiple(char* address, std::size_t unit) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  return address + (next_multiple(number, unit) - number);
}

// All bytes are equal if each equals its neighbour.
bool is_untouched(const char* begin, const char* end) {
  const auto size = static_cast<std::size_t>(end - begin);
  return *begin == static_cast<char>(kGuardByte) && !std::memcmp(begin, begin + 1, size - 1);
}

}  // namespace

bool Pool::reserve() {
  struct rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return false;
  for (std::size_t size = kReserved; size > 2 * kFirst; size /= 2) {
    void* mapping =
        mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) continue;
    base_ = static_cast<char*>(mapping);
    end_ = base_ + size - kFirst;
    top_ = opened_ = base_ + kFirst;
    return true;
  }
  return false;
}

bool Pool::open_up_to(const char* end) {
  if (end <= opened_) return true;
  const std::size_t more = next_multiple(static_cast<std::size_t>(end - opened_), kOpenedAtOnce);
  if (more > static_cast<std::size_t>(end_ - opened_)) return false;
  if (mprotect(opened_, more, PROT_READ | PROT_WRITE) != 0) return false;
  opened_ += more;
  return true;
}

// Returns the address at which the allocation can begin, after its first guard: in the first gap
// that is large enough, or above all blocks. `size` includes both guards.
char* Pool::place_for(std::size_t size, std::size_t alignment) {
  const auto aligned = [=](char* block) {
    return next_multiple(block + kGuardBefore, alignment) - kGuardBefore;
  };
  if (char* const block = gaps_.take(size, aligned)) return block + kGuardBefore;
  char* const block = aligned(top_);
  if (size > static_cast<std::size_t>(end_ - block) || !open_up_to(block + size)) return nullptr;
  if (block != top_) gaps_.add(top_, static_cast<std::size_t>(block - top_));
  top_ = block + size;
  return block + kGuardBefore;
}

char* Pool::allocate(std::size_t size) {
  if (size > kReserved) return nullptr;
  // A kernel that walks down the columns of a large matrix touches a different page with every
  // access. With huge pages, the TLB covers the whole matrix.
  const bool is_large = size >= 2 * kHugePage;
  const std::size_t whole = kGuardBefore + next_multiple(size, kUnit) + kGuardPast;
  char* const pointer = place_for(whole, is_large ? kHugePage : kUnit);
  if (!pointer) return nullptr;
  if (is_large) madvise(pointer, size / kHugePage * kHugePage, MADV_HUGEPAGE);
  char* const begin = pointer - kGuardBefore;
  live_[pointer] = {begin, whole, size};
  std::memset(begin, kGuardByte, kGuardBefore);
  std::memset(pointer + size, kGuardByte, static_cast<std::size_t>(begin + whole - pointer) - size);
  return pointer;
}

void Pool::release(char* pointer) {
  const auto found = live_.find(pointer);
  if (found == live_.end()) return;
  const Block block = found->second;
  live_.erase(found);
  if (block.usable >= kGivenBack)
    madvise(pointer, block.usable / kHugePage * kHugePage, MADV_DONTNEED);
  gaps_.add(block.begin, block.size);
}

bool Pool::contains(const void* address) const {
  const char* byte = static_cast<const char*>(address);
  return base_ && byte >= base_ && byte < end_ + kFirst;
}

Pool::Guard Pool::guard_of(const char* pointer) const {
  const auto found = live_.find(const_cast<char*>(pointer));
  if (found == live_.end()) return Guard::intact;
  const Block& block = found->second;
  if (!is_untouched(pointer + block.usable, block.begin + block.size)) return Guard::written_past;
  return is_untouched(block.begin, pointer) ? Guard::intact : Guard::written_before;
}

}  // namespace hostcuda
