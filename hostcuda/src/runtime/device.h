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
// How many launches of kernels may wait for their start (cudaLimitDevRuntimePendingLaunchCount).
std::size_t pending_launches();

// Returns the devices whose memory this device's kernels may access.
const std::set<int>& peers_of(int device);

}  // namespace hostcuda

#endif
