// Memory pools.
#ifndef HOSTCUDA_SRC_RUNTIME_MEMORY_POOL_H
#define HOSTCUDA_SRC_RUNTIME_MEMORY_POOL_H

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cuda_runtime.h"
#include "interprocess/shared_file.h"
#include "runtime/memory.h"

struct CUmemPoolHandle_st {
  explicit CUmemPoolHandle_st(int device) : device(device) {}
  int device;
  int reuse[cudaMemPoolReuseAllowInternalDependencies] = {1, 1, 1};
  std::uint64_t release_threshold = 0;
  // Shared with the pool's allocations, which may outlive the pool.
  std::shared_ptr<hostcuda::PoolAccess> access = std::make_shared<hostcuda::PoolAccess>();
  std::shared_ptr<hostcuda::SharedFile> file = nullptr;  // if other processes can import the pool
};

namespace hostcuda {

bool is_pool(cudaMemPool_t pool);
cudaMemPool_t add_pool(int device);
cudaError_t allocate_in_file(void** pointer, std::size_t size, CUmemPoolHandle_st& pool);

}  // namespace hostcuda

#endif
