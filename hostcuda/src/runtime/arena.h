// HOSTCUDA_STRICT_MEM=1: device memory at separate addresses, protected by the MMU.
#ifndef HOSTCUDA_SRC_RUNTIME_ARENA_H
#define HOSTCUDA_SRC_RUNTIME_ARENA_H

#include <cstddef>
#include <map>

namespace hostcuda {

// Address space of one device. Each allocation has its own pages, which end where it ends (up to
// the alignment) and are followed by an inaccessible page. Addresses are never reused, so a use
// after cudaFree is a fault too.
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
