// Memory that kernels allocate with malloc and new. On a GPU this memory comes from a separate
// heap, which host code and the API cannot access.
#ifndef HOSTCUDA_TRACE_CHECKS_HEAP_H
#define HOSTCUDA_TRACE_CHECKS_HEAP_H

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "checks/arrays.h"
#include "records/finding.h"

namespace hostcuda::trace {

class Heap {
 public:
  explicit Heap(Arrays& arrays) : arrays_(arrays) {}

  // True if the kernel itself calls malloc, new, free or delete; false if a library that the kernel
  // uses calls them.
  bool serves(const void* return_address);
  // Returns null if the heap is full, as on a GPU.
  void* allocate(std::size_t size, const void* return_address);
  // Returns false if the memory is from the host's heap, for example because a library allocated
  // it.
  bool release(const void* pointer, const void* return_address);

 private:
  static constexpr std::size_t kRoom = 64;  // unused bytes between allocations, which may be many
  Arrays& arrays_;
  void report_release(const char* kind, const std::string& what, const Array* array,
                      const char* advice, const void* return_address);
  std::map<const void*, bool> is_own_;                             // key: the return address
  std::map<std::pair<std::string, const void*>, Finding*> known_;  // key: kind and return address
  std::size_t used_ = 0;
};

}  // namespace hostcuda::trace

#endif
