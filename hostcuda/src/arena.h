// HOSTCUDA_STRICT_MEM=1: device memory at addresses of its own, protected by the MMU.
#ifndef HOSTCUDA_SRC_ARENA_H
#define HOSTCUDA_SRC_ARENA_H

#include <cstddef>
#include <map>

namespace hostcuda {

// Address space of one device. Each allocation has pages of its own that end with it (up to the
// alignment), followed by an inaccessible page. Addresses are never used again, so a use after
// cudaFree is a fault too.
class Arena {
 public:
  char* allocate(std::size_t size, bool poison);  // null when the address space is used up
  void release(char* pointer);
  void open();  // nested calls count
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
