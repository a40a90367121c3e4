// Finds out which device owns a piece of memory and whether the memory is pinned, and controls
// access to device memory.
#ifndef HOSTCUDA_SRC_RUNTIME_MEMORY_H
#define HOSTCUDA_SRC_RUNTIME_MEMORY_H

#include <cstddef>
#include <memory>
#include <set>
#include <vector>

#include "support/observer.h"

namespace hostcuda {

class Arena;
class SharedFile;

// The kind of memory at a pointer. `valid` is false if the pointer is in a device allocation that
// ends less than `size` bytes after the pointer.
struct MemoryRange {
  MemoryKind kind;
  bool valid;
};
MemoryRange classify(const void* pointer, std::size_t size);
// True if a copy between these kinds of memory may have the direction.
bool direction_matches(MemoryKind to, MemoryKind from, cudaMemcpyKind direction);

// The other devices that may access the memory of a pool (cudaMemPoolSetAccess).
struct PoolAccess {
  std::set<int> devices;
};

// The allocation that contains a pointer; `begin` is null if none does.
struct AllocatedRange {
  char* begin = nullptr;
  std::size_t size = 0;
  int device = 0;
  const SharedFile* file = nullptr;  // if it is in a pool's file
};
AllocatedRange allocation_at(const void* pointer);

// Memory that cuMemCreate allocated counts as used. count_bytes returns false if the device has too
// little memory left.
bool count_bytes(int device, std::size_t size);
void uncount_bytes(int device, std::size_t size);
// Kernels and copies may use a range of mapped addresses between these two calls. cudaFree rejects
// the range.
void begin_mapped_range(char* begin, std::size_t size, int device);
void end_mapped_range(char* begin);
// Makes memory in a pool's file an allocation. cudaFree and cudaFreeAsync give it back.
void begin_range_in_file(char* begin, std::size_t size, const CUmemPoolHandle_st& pool);

// True if a pool of `owner` lets `device` access its memory.
bool pools_admit(int owner, int device);

// Allocates memory of a device: of a pool, or for cudaMalloc if `pool` is null.
cudaError_t allocate(void** pointer, std::size_t size, int device, bool managed,
                     std::shared_ptr<const PoolAccess> pool = nullptr);
bool is_allocation(const void* pointer);  // true for the first byte of an allocation
void release(char* pointer);
// The result of freeing a pointer that is not the address of an allocation.
cudaError_t refuse_free(const void* pointer);
// Returns the size if the pointer is the address of memory from cudaMalloc, otherwise 0.
std::size_t size_of_device_allocation(const void* pointer);
// Makes memory of another process known as memory of a device. It is not freed by cudaFree.
void adopt_memory(char* begin, std::size_t size, int device);
void disown_memory(const void* begin);
// Called when memory for which another process may have a handle is freed.
void forget_shared(const void* memory);
// True unless the address is in memory of another device, to which this device has no access.
bool may_access(int device, const void* address);

// If HOSTCUDA_STRICT_MEM=1, device memory is accessible only while one of these objects exists. A
// kernel opens the memory of its device and of the enabled peers; a copy opens all memory.
class DeviceMemoryAccess {
 public:
  DeviceMemoryAccess();                     // opens every device's memory
  explicit DeviceMemoryAccess(int device);  // opens the memory of a device and of its enabled peers
  ~DeviceMemoryAccess();
  DeviceMemoryAccess(const DeviceMemoryAccess&) = delete;
  DeviceMemoryAccess& operator=(const DeviceMemoryAccess&) = delete;

 private:
  void open(Arena& arena);
  std::vector<Arena*> opened_;
};

}  // namespace hostcuda

#endif
