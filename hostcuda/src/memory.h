// Which memory is a device's, which is pinned, and who may touch it now.
#ifndef HOSTCUDA_SRC_MEMORY_H
#define HOSTCUDA_SRC_MEMORY_H

#include <cstddef>
#include <vector>

namespace hostcuda {

struct Allocation {
  std::size_t size;
  int device;
  bool managed;  // host code may touch it
};

enum class MemoryKind { pageable, pinned, device, managed };

// What the `size` bytes at the pointer are. They must lie in one allocation: valid is false if they
// begin in device memory and leave it.
struct MemoryRange {
  MemoryKind kind;
  bool valid;
};
MemoryRange classify(const void* pointer, std::size_t size);

// The device memory that holds the address: all of its allocation, or nothing (size 0).
struct DeviceRange {
  const char* begin = nullptr;
  std::size_t size = 0;
  bool contains(const void* pointer) const {
    const char* byte = static_cast<const char*>(pointer);
    return byte >= begin && byte < begin + size;
  }
};
DeviceRange device_range(const void* pointer);

// With HOSTCUDA_STRICT_MEM=1 device memory is inaccessible except while one of these lives. A
// kernel opens the memory of its device and of the enabled peers, a copy opens all.
class DeviceMemoryAccess {
 public:
  DeviceMemoryAccess();                     // of every device
  explicit DeviceMemoryAccess(int device);  // of a device and its enabled peers
  ~DeviceMemoryAccess();
  DeviceMemoryAccess(const DeviceMemoryAccess&) = delete;
  DeviceMemoryAccess& operator=(const DeviceMemoryAccess&) = delete;

 private:
  std::vector<int> devices_;
};

// The device whose strict-mode address range holds the address, or -1. Takes no lock: for the fault
// handler.
int device_of_arena_address(const void* address);

}  // namespace hostcuda

#endif
