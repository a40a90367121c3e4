// Which memory belongs to a device, which is pinned, and when it is accessible.
#ifndef HOSTCUDA_SRC_RUNTIME_MEMORY_H
#define HOSTCUDA_SRC_RUNTIME_MEMORY_H

#include <cstddef>
#include <vector>

#include "support/observer.h"

namespace hostcuda {

// What kind of memory `size` bytes at the pointer are. valid: they do not run past the end of the
// device allocation in which they begin.
struct MemoryRange {
  MemoryKind kind;
  bool valid;
};
MemoryRange classify(const void* pointer, std::size_t size);

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

}  // namespace hostcuda

#endif
