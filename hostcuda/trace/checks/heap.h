// Memory that kernels allocate with malloc and new: a GPU takes it from a separate heap that host
// code and the API cannot access.
#ifndef HOSTCUDA_TRACE_CHECKS_HEAP_H
#define HOSTCUDA_TRACE_CHECKS_HEAP_H

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "checks/arrays.h"
#include "support/finding.h"

namespace hostcuda::trace {

class Heap {
 public:
  explicit Heap(Arrays& arrays) : arrays_(arrays) {}

  // True if the kernel itself makes the call, false if a library in an emulated thread does.
  bool serves(const void* return_address);
  // Null if the heap is full, as on a GPU.
  void* allocate(std::size_t size, const void* return_address);
  // False if the host allocated it, for example for a library in an emulated thread.
  bool release(const void* pointer, const void* return_address);

 private:
  static constexpr std::size_t kRoom = 64;  // between allocations, which are many and small
  Arrays& arrays_;
  void report_release(const char* kind, const std::string& what, const Array* array,
                      const char* advice, const void* return_address);
  std::map<const void*, bool> is_own_;                             // by return address
  std::map<std::pair<std::string, const void*>, Finding*> known_;  // by kind and return address
  std::size_t used_ = 0;
};

}  // namespace hostcuda::trace

#endif
