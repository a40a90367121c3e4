// The device of each memory range, pinned memory, and the times at which memory is accessible.
#ifndef HOSTCUDA_SRC_RUNTIME_MEMORY_H
#define HOSTCUDA_SRC_RUNTIME_MEMORY_H

#include <cstddef>
#include <vector>

#include "support/observer.h"

namespace hostcuda {

// The kind of memory of `size` bytes at the pointer. `valid` means that the bytes do not extend
// beyond the device allocation in which they start.
struct MemoryRange {
  MemoryKind kind;
  bool valid;
};
MemoryRange classify(const void* pointer, std::size_t size);

// With HOSTCUDA_STRICT_MEM=1, device memory is accessible only while one of these lives. A kernel
// opens the memory of its device and of the enabled peers, a copy opens all.
class DeviceMemoryAccess {
 public:
  DeviceMemoryAccess();                     // opens every device's memory
  explicit DeviceMemoryAccess(int device);  // opens a device's and its enabled peers'
  ~DeviceMemoryAccess();
  DeviceMemoryAccess(const DeviceMemoryAccess&) = delete;
  DeviceMemoryAccess& operator=(const DeviceMemoryAccess&) = delete;

 private:
  std::vector<int> devices_;
};

}  // namespace hostcuda

#endif
