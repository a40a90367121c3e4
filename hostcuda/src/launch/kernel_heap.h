// The heap from which cudaMalloc in kernels allocates. A tool that observes malloc in kernels
// replaces its functions.
#ifndef HOSTCUDA_SRC_LAUNCH_KERNEL_HEAP_H
#define HOSTCUDA_SRC_LAUNCH_KERNEL_HEAP_H

#include <cstddef>
#include <cstdlib>

namespace hostcuda {

// Reports a kernel that frees memory which the host allocated, or a variable.
void report_free_of_others(const void* caller);

struct KernelHeap {
  // caller: the return address of the call, for messages.
  void* (*allocate)(std::size_t size, const void* caller) = [](std::size_t size, const void*) {
    return std::malloc(size);
  };
  void (*release)(void* pointer, const void* caller) = [](void* pointer, const void*) {
    std::free(pointer);
  };
  // Reports a call of cudaFree for memory that is not the heap's.
  void (*refuse)(void* pointer, const void* caller) = [](void*, const void* caller) {
    report_free_of_others(caller);
  };
};
extern KernelHeap kernel_heap;

}  // namespace hostcuda

#endif
