// The memory that the program has allocated, by its first address.
#ifndef HOSTCUDA_SRC_MEMORY_ALLOCATIONS_H
#define HOSTCUDA_SRC_MEMORY_ALLOCATIONS_H

#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "cuda_runtime.h"
#include "support/source_line.h"

namespace hostcuda {

class SharedFile;
struct PoolAccess;

// The program cannot free the others by their addresses: a range of addresses at which cuMemMap put
// memory, memory of another process, opened by a handle, and a __managed__ variable.
enum class Origin { allocated, mapped, of_other_process, variable };

// The hints that the program has given about a piece of managed memory. A place is a device or the
// host.
struct UsageHints {
  bool read_mostly = false;
  int preferred = cudaInvalidDeviceId, prefetched = cudaInvalidDeviceId;
  std::set<int> accessed_by = {};
};

struct Allocation {
  std::size_t size;
  int device;
  bool managed;  // host code may access it
  CodePlace place;
  std::shared_ptr<const PoolAccess> pool;  // null for memory from cudaMalloc
  Origin origin = Origin::allocated;
  std::shared_ptr<SharedFile> file = nullptr;  // the file of the pool that contains the memory
  // Each piece of managed memory extends from its offset to the next piece.
  std::map<std::size_t, UsageHints> hints = {{0, {}}};
};

inline std::map<char*, Allocation>& allocations() {
  static auto* map = new std::map<char*, Allocation>;
  return *map;
}

struct PinnedRange {
  std::size_t size;
  bool ours;  // allocated by cudaMallocHost; otherwise only registered
  CodePlace place;
  unsigned flags = 0;  // of cudaHostAlloc
};

inline std::map<char*, PinnedRange>& pinned_ranges() {
  static auto* map = new std::map<char*, PinnedRange>;
  return *map;
}

// Returns the range that contains the pointer, or end().
template <class Map>
auto range_at(Map& map, const void* pointer) {
  char* byte = static_cast<char*>(const_cast<void*>(pointer));
  auto next = map.upper_bound(byte);
  if (next == map.begin()) return map.end();
  auto range = std::prev(next);
  return byte < range->first + range->second.size ? range : map.end();
}

}  // namespace hostcuda

#endif
