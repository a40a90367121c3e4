// The emulated devices: which device a host thread uses, and which devices may access each other's
// memory.
#ifndef HOSTCUDA_SRC_RUNTIME_DEVICE_H
#define HOSTCUDA_SRC_RUNTIME_DEVICE_H

#include <cstddef>
#include <set>

namespace hostcuda {

// Returns the device of the calling host thread.
int current_device();
void set_current_device(int device);  // which must be valid
bool valid_device(int device);

// The heap size for malloc and new in kernels (cudaLimitMallocHeapSize).
std::size_t kernel_heap_size();

// Lets the kernels of the device `user` access memory of `owner`, because a memory pool allows it.
void share_memory(int owner, int user);

// Returns the devices whose memory this device's kernels may access.
std::set<int> peers_of(int device);

}  // namespace hostcuda

#endif
