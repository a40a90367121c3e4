// HOSTCUDA_STRICT_MEM=1: device memory has separate addresses, and the MMU protects it.
#ifndef HOSTCUDA_SRC_MEMORY_ARENA_H
#define HOSTCUDA_SRC_MEMORY_ARENA_H

#include <cstddef>
#include <map>

namespace hostcuda {

// The address space of one device. Each allocation has its own pages. An allocation ends at the end
// of its last page (except for alignment), and an inaccessible page follows. Addresses are never
// reused, so a use after cudaFree also causes a fault.
class Arena {
 public:
  char* allocate(std::size_t size, bool poison);  // returns null when the address space is used up
  void release(char* pointer);
  void open();  // calls may be nested
  void close();
  bool contains(const void* address) const;

 private:
  struct Pages {
    char* begin;
    std::size_t size;
  };
  void protect(const Pages& pages, int protection) const;

  static constexpr std::size_t kSize = std::size_t{1} << 38;
  char* base_ = nullptr;
  std::size_t used_ = 0;
  int opened_ = 0;
  std::map<char*, Pages> live_;
};

}  // namespace hostcuda

#endif
