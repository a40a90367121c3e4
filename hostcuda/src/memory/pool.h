// The addresses of all memory that kernels use in a plain run.
#ifndef HOSTCUDA_SRC_MEMORY_POOL_H
#define HOSTCUDA_SRC_MEMORY_POOL_H

#include <cstddef>
#include <map>

#include "memory/gaps.h"

namespace hostcuda {

// Allocations are far from the heap of the program and the emulator. So a kernel that writes just
// outside an array hits guard bytes, and a kernel that writes far outside causes a fault. Like a
// GPU, the pool rounds sizes up to 256 bytes.
class Pool {
 public:
  // False if the address space is limited (ulimit -v), because then the program needs all of it.
  bool is_usable() { return base_ || reserve(); }
  char* allocate(std::size_t size);  // returns null if the address space is used up
  void release(char* pointer);
  bool contains(const void* address) const;

  // The state of the guard bytes around an allocation. Only wrong programs overwrite them.
  enum class Guard { intact, written_before, written_past };
  Guard guard_of(const char* pointer) const;

 private:
  bool reserve();
  char* place_for(std::size_t size, std::size_t alignment);
  bool open_up_to(const char* end);

  struct Block {
    char* begin;       // the beginning of the guard before the allocation
    std::size_t size;  // includes both guards
    std::size_t usable;
  };
  char *base_ = nullptr, *end_ = nullptr;
  char* top_ = nullptr;     // the end of the last block
  char* opened_ = nullptr;  // bytes from here on are inaccessible
  std::map<char*, Block> live_;
  Gaps gaps_;  // below top_
};

}  // namespace hostcuda

#endif
