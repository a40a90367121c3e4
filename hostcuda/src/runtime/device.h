// The emulated devices: the one that a host thread uses, and those that may access each other's
// memory.
#ifndef HOSTCUDA_SRC_RUNTIME_DEVICE_H
#define HOSTCUDA_SRC_RUNTIME_DEVICE_H

#include <cstddef>
#include <set>

namespace hostcuda {

// The calling host thread's device.
int current_device();
bool valid_device(int device);

// Heap size for malloc and new in kernels: cudaLimitMallocHeapSize.
std::size_t kernel_heap_size();

// The devices whose memory kernels of this device may access.
const std::set<int>& peers_of(int device);

}  // namespace hostcuda

#endif
