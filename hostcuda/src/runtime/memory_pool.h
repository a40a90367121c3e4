// Memory pools, and the files in which pools allocate that other processes can import.
#ifndef HOSTCUDA_SRC_RUNTIME_MEMORY_POOL_H
#define HOSTCUDA_SRC_RUNTIME_MEMORY_POOL_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "cuda_runtime.h"
#include "runtime/memory.h"

namespace hostcuda {

// A file without a name that is mapped into memory. Each process may map it at another address.
class SharedFile {
 public:
  SharedFile() = default;
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  bool create();
  bool import(int file);  // maps a copy of the descriptor
  bool is_open() const { return base_; }
  int descriptor() const { return file_; }
  std::uint64_t number() const { return number_; }  // the same in all processes

  char* allocate(std::size_t size);  // returns null if the file is full
  char* at(std::size_t offset, std::size_t size) const;
  bool contains(const char* pointer) const { return pointer >= base_ && pointer < base_ + size_; }
  std::size_t offset_of(const char* pointer) const {
    return static_cast<std::size_t>(pointer - base_);
  }

 private:
  bool map();

  int file_ = -1;
  char* base_ = nullptr;
  std::size_t size_ = 0, used_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace hostcuda

struct CUmemPoolHandle_st {
  explicit CUmemPoolHandle_st(int device) : device(device) {}
  int device;
  int reuse[cudaMemPoolReuseAllowInternalDependencies] = {1, 1, 1};
  std::uint64_t release_threshold = 0;
  // Shared with the pool's allocations, which may outlive the pool.
  std::shared_ptr<hostcuda::PoolAccess> access = std::make_shared<hostcuda::PoolAccess>();
  hostcuda::SharedFile file;  // open if other processes can import the pool
  bool is_imported = false;
};

namespace hostcuda {

bool is_pool(cudaMemPool_t pool);
cudaMemPool_t add_pool(int device);
void for_each_pool(const std::function<void(CUmemPoolHandle_st&)>& visit);
cudaError_t allocate_in_file(void** pointer, std::size_t size, CUmemPoolHandle_st& pool);

}  // namespace hostcuda

#endif
