#include "runtime/memory_pool.h"

#include <cstring>
#include <iterator>
#include <list>
#include <vector>

#include "runtime/api.h"
#include "runtime/device.h"
#include "support/config.h"

namespace hostcuda {
namespace {

struct MemoryPools {
  std::list<CUmemPoolHandle_st> all;  // the devices' default pools come first
  std::vector<cudaMemPool_t> current;
};

// The pools are never destroyed, because destructors of static objects may still use them.
MemoryPools& memory_pools() {
  static auto* const pools = [] {
    auto* made = new MemoryPools;
    for (int device = 0; device < config().devices; ++device)
      made->current.push_back(&made->all.emplace_back(device));
    return made;
  }();
  return *pools;
}

cudaMemPool_t default_pool(int device) {
  auto pool = memory_pools().all.begin();
  std::advance(pool, device);
  return &*pool;
}

struct PoolSetting {
  void* value;
  std::size_t size;
};
PoolSetting setting_of(CUmemPoolHandle_st& pool, cudaMemPoolAttr attribute) {
  if (attribute == cudaMemPoolAttrReleaseThreshold)
    return {&pool.release_threshold, sizeof pool.release_threshold};
  if (attribute < cudaMemPoolReuseFollowEventDependencies ||
      attribute > cudaMemPoolReuseAllowInternalDependencies)
    return {};
  return {&pool.reuse[attribute - cudaMemPoolReuseFollowEventDependencies], sizeof(int)};
}

}  // namespace

bool is_pool(cudaMemPool_t pool) {
  for (const CUmemPoolHandle_st& one : memory_pools().all)
    if (&one == pool) return true;
  return false;
}

cudaMemPool_t add_pool(int device) { return &memory_pools().all.emplace_back(device); }

void for_each_pool(const std::function<void(CUmemPoolHandle_st&)>& visit) {
  for (CUmemPoolHandle_st& pool : memory_pools().all) visit(pool);
}

}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  HOSTCUDA_API_CALL;
  if (!valid_device(device)) return fail(cudaErrorInvalidDevice);
  if (!pool) return fail(cudaErrorInvalidValue);
  *pool = default_pool(device);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  HOSTCUDA_API_CALL;
  if (!valid_device(device)) return fail(cudaErrorInvalidDevice);
  if (!pool) return fail(cudaErrorInvalidValue);
  *pool = memory_pools().current[static_cast<std::size_t>(device)];
  return cudaSuccess;
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  HOSTCUDA_API_CALL;
  if (!valid_device(device)) return fail(cudaErrorInvalidDevice);
  if (!is_pool(pool) || pool->device != device) return fail(cudaErrorInvalidValue);
  memory_pools().current[static_cast<std::size_t>(device)] = pool;
  return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  HOSTCUDA_API_CALL;
  if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned ||
      properties->location.type != cudaMemLocationTypeDevice ||
      !valid_device(properties->location.id))
    return fail(cudaErrorInvalidValue);
  if (properties->handleTypes & ~cudaMemHandleTypePosixFileDescriptor)
    return fail(cudaErrorNotSupported);
  cudaMemPool_t made = add_pool(properties->location.id);
  if (properties->handleTypes && !made->file.create()) {
    memory_pools().all.pop_back();
    return fail(cudaErrorMemoryAllocation);
  }
  *pool = made;
  return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  HOSTCUDA_API_CALL;
  if (!is_pool(pool) || pool == default_pool(pool->device)) return fail(cudaErrorInvalidValue);
  cudaMemPool_t& current = memory_pools().current[static_cast<std::size_t>(pool->device)];
  if (current == pool) current = default_pool(pool->device);
  memory_pools().all.remove_if([pool](const CUmemPoolHandle_st& one) { return &one == pool; });
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  HOSTCUDA_API_CALL;
  if (!is_pool(pool) || !value) return fail(cudaErrorInvalidValue);
  const PoolSetting setting = setting_of(*pool, attribute);
  if (!setting.value) return fail(cudaErrorNotSupported);
  std::memcpy(setting.value, value, setting.size);
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  HOSTCUDA_API_CALL;
  if (!is_pool(pool) || !value) return fail(cudaErrorInvalidValue);
  const PoolSetting setting = setting_of(*pool, attribute);
  if (!setting.value) return fail(cudaErrorNotSupported);
  std::memcpy(value, setting.value, setting.size);
  return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  HOSTCUDA_API_CALL;
  return is_pool(pool) ? cudaSuccess : fail(cudaErrorInvalidValue);
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  if (!is_pool(pool)) return fail(cudaErrorInvalidValue);
  return pool->file.is_open() ? allocate_in_file(pointer, size, *pool)
                              : cudaMallocAsync(pointer, size, stream);
}
