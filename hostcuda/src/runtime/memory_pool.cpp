#include "runtime/memory_pool.h"

#include <cstring>
#include <iterator>
#include <list>
#include <memory>
#include <vector>

#include "runtime/api.h"
#include "runtime/device.h"
#include "runtime/memory.h"
#include "runtime/stream.h"
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

bool pools_admit(int owner, int device) {
  for (const CUmemPoolHandle_st& pool : memory_pools().all)
    if (pool.device == owner && pool.access->devices.contains(device)) return true;
  return false;
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
  const auto file = properties->handleTypes ? std::make_shared<SharedFile>() : nullptr;
  if (file && !file->create()) return fail(cudaErrorMemoryAllocation);
  *pool = add_pool(properties->location.id);
  (*pool)->file = file;
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

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* descriptions,
                                 std::size_t count) {
  HOSTCUDA_API_CALL;
  if (!is_pool(pool) || (count && !descriptions)) return fail(cudaErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i) {
    const cudaMemAccessDesc& one = descriptions[i];
    if (one.location.type != cudaMemLocationTypeDevice || !valid_device(one.location.id))
      return fail(cudaErrorInvalidDevice);
    if (one.flags != cudaMemAccessFlagsProtNone && one.flags != cudaMemAccessFlagsProtReadWrite)
      return fail(cudaErrorInvalidValue, "the flags must be ProtNone or ProtReadWrite");
    if (one.location.id == pool->device && one.flags == cudaMemAccessFlagsProtNone)
      return fail(cudaErrorInvalidDevice, "a device always has access to its own pools");
  }
  for (std::size_t i = 0; i < count; ++i) {
    const int device = descriptions[i].location.id;
    if (descriptions[i].flags == cudaMemAccessFlagsProtNone)
      pool->access->devices.erase(device);
    else if (device != pool->device)
      pool->access->devices.insert(device);
  }
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  HOSTCUDA_API_CALL;
  if (!flags || !is_pool(pool) || !location || location->type != cudaMemLocationTypeDevice)
    return fail(cudaErrorInvalidValue);
  if (!valid_device(location->id)) return fail(cudaErrorInvalidDevice);
  const bool has_access =
      location->id == pool->device || pool->access->devices.contains(location->id);
  *flags = has_access ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
  return cudaSuccess;
}

// ---- memory in stream order ---------------------------------------------------------------------

namespace {

// The memory exists as soon as the call returns, but the observer is notified in stream order.
cudaError_t allocate_in_stream(void** pointer, std::size_t size, cudaMemPool_t pool,
                               CUstream_st& stream) {
  if (pool->file) return allocate_in_file(pointer, size, *pool);
  const cudaError_t error = allocate(pointer, size, pool->device, false, pool->access);
  if (runtime_observer && !error && *pointer)
    enqueue(stream, [bytes = static_cast<char*>(*pointer)] { runtime_observer->claimed(bytes); });
  return error;
}

}  // namespace

cudaError_t cudaMallocAsync(void** pointer, std::size_t size, cudaStream_t handle) {
  HOSTCUDA_API_CALL_ON(handle);
  if (const cudaError_t error = capture_error(*stream)) return fail(error);
  if (stream->capture) return allocate_in_graph(pointer, size, *stream);
  cudaMemPool_t pool = memory_pools().current[static_cast<std::size_t>(stream->device)];
  return allocate_in_stream(pointer, size, pool, *stream);
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t size, cudaMemPool_t pool,
                                    cudaStream_t handle) {
  HOSTCUDA_API_CALL_ON(handle);
  if (!is_pool(pool)) return fail(cudaErrorInvalidValue);
  if (const cudaError_t error = capture_error(*stream)) return fail(error);
  if (stream->capture) return allocate_in_graph(pointer, size, *stream);
  return allocate_in_stream(pointer, size, pool, *stream);
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t handle) {
  HOSTCUDA_API_CALL_ON(handle);
  if (!pointer) return cudaSuccess;
  if (const cudaError_t error = capture_error(*stream)) return fail(error);
  if (stream->capture || is_graph_memory(pointer)) return free_in_graph(pointer, *stream);
  if (!is_allocation(pointer)) return refuse_free(pointer);
  enqueue(*stream, [bytes = static_cast<char*>(pointer)] {
    if (runtime_observer) runtime_observer->claimed(bytes);
    release(bytes);
  });
  return cudaSuccess;
}
