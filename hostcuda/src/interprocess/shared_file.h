// The files in which memory pools allocate that other processes can import.
#ifndef HOSTCUDA_SRC_INTERPROCESS_SHARED_FILE_H
#define HOSTCUDA_SRC_INTERPROCESS_SHARED_FILE_H

#include <cstddef>
#include <cstdint>

#include "memory/gaps.h"

namespace hostcuda {

// A file without a name that is mapped into memory. Each process may map it at another address. The
// process that created the file allocates in it. The pool and its allocations share the file, so
// that allocations may outlive the pool.
class SharedFile {
 public:
  SharedFile() = default;
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  bool create();
  bool import(int file);  // maps a copy of the descriptor
  bool is_imported() const { return is_imported_; }
  int descriptor() const { return file_; }
  std::uint64_t number() const { return number_; }  // the same in all processes

  char* allocate(std::size_t size);  // returns null if the file is full
  void release(char* begin, std::size_t size);
  char* at(std::size_t offset, std::size_t size) const;
  std::size_t offset_of(const char* pointer) const {
    return static_cast<std::size_t>(pointer - base_);
  }

 private:
  bool map();

  int file_ = -1;
  bool is_imported_ = false;
  char* base_ = nullptr;
  std::size_t size_ = 0, used_ = 0;
  Gaps gaps_;  // below used_
  std::uint64_t number_ = 0;
};

}  // namespace hostcuda

#endif
