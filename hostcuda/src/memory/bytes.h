// Where the bytes of allocations come from: the pool, the arena of a device, or the C library. Also
// names the allocation that a fault missed, and looks at the guards around allocations.
#ifndef HOSTCUDA_SRC_MEMORY_BYTES_H
#define HOSTCUDA_SRC_MEMORY_BYTES_H

#include <cstddef>

#include "memory/arena.h"
#include "support/source_line.h"

namespace hostcuda {

// Both return null if there is no memory left.
char* allocate_bytes(int device, std::size_t size, bool managed, bool of_pool);
char* allocate_pages(std::size_t size);  // for the host, or for the host and the devices
void release_pages(char* pointer);

// The memory of a device, or of the device's pools, to which other devices get access separately.
Arena& arena(int device, bool of_pools);

// An allocation of device or pinned memory in the pool.
struct Owner {
  const char* begin = nullptr;
  std::size_t size = 0;
  CodePlace place;
};

// Prints a hint if kernels or copies wrote next to the allocation.
void look_at_guard(const Owner& owner);
void look_at_all_guards();

}  // namespace hostcuda

#endif
