#include "runtime/memory.h"

#include <utility>
#include <vector>

#include "graphs/graph_memory.h"
#include "memory/allocations.h"
#include "memory/bytes.h"
#include "runtime/api.h"
#include "runtime/device.h"
#include "runtime/memory_pool.h"
#include "runtime/stream.h"
#include "runtime/symbol.h"
#include "support/config.h"
#include "support/observer.h"

namespace hostcuda {
namespace {

std::size_t& used_bytes(int device) {
  static auto* list = new std::vector<std::size_t>(static_cast<std::size_t>(config().devices));
  return (*list)[static_cast<std::size_t>(device)];
}

CodePlace calling_place() {
  const CallSite* call = CallSite::current();
  return call ? call->place() : CodePlace{};
}

}  // namespace

cudaError_t allocate(void** pointer, std::size_t size, int device, bool managed,
                     std::shared_ptr<const PoolAccess> pool) {
  if (!pointer) return fail(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  std::size_t& used = used_bytes(device);
  if (size > config().memory - used) return fail(cudaErrorMemoryAllocation);
  char* bytes = allocate_bytes(device, size, managed, pool != nullptr);
  if (!bytes) return fail(cudaErrorMemoryAllocation);
  used += size;
  allocations()[bytes] = {size, device, managed, calling_place(), std::move(pool)};
  if (runtime_observer)
    runtime_observer->allocated(bytes, size, managed ? MemoryKind::managed : MemoryKind::device);
  *pointer = bytes;
  return cudaSuccess;
}

cudaError_t refuse_free(const void* pointer) {
  if (runtime_observer) runtime_observer->free_refused(pointer);
  return fail(cudaErrorInvalidValue);
}

void release(char* pointer) {
  const auto found = allocations().find(pointer);
  if (found == allocations().end()) return;
  forget_shared(pointer);
  const Allocation allocation = found->second;
  look_at_guard({pointer, allocation.size, allocation.place});
  allocations().erase(found);
  used_bytes(allocation.device) -= allocation.size;
  if (runtime_observer) runtime_observer->released(pointer);
  if (allocation.file)
    allocation.file->release(pointer, allocation.size);
  else if (config().strict_memory && !allocation.managed)
    arena(allocation.device, allocation.pool != nullptr).release(pointer);
  else
    release_pages(pointer);
}

bool is_allocation(const void* pointer) {
  const auto found = allocations().find(static_cast<char*>(const_cast<void*>(pointer)));
  return found != allocations().end() && found->second.origin == Origin::allocated;
}

std::size_t size_of_device_allocation(const void* pointer) {
  if (!is_allocation(pointer)) return 0;
  const Allocation& found = allocations()[static_cast<char*>(const_cast<void*>(pointer))];
  return found.managed || found.pool ? 0 : found.size;
}

void adopt_memory(char* begin, std::size_t size, int device) {
  allocations()[begin] = {size, device, false, calling_place(), nullptr, Origin::of_other_process};
}

void disown_memory(const void* begin) {
  allocations().erase(static_cast<char*>(const_cast<void*>(begin)));
}

bool may_access(int device, const void* address) {
  const auto found = range_at(allocations(), address);
  if (found == allocations().end() || found->second.managed ||
      found->second.origin != Origin::allocated || found->second.device == device)
    return true;
  const Allocation& allocation = found->second;
  return (allocation.pool ? allocation.pool->devices : peers_of(device))
      .contains(allocation.pool ? device : allocation.device);
}

AllocatedRange allocation_at(const void* pointer) {
  const auto found = range_at(allocations(), pointer);
  if (found == allocations().end()) return {};
  const Allocation& allocation = found->second;
  return {found->first, allocation.size, allocation.device, allocation.file.get()};
}

bool count_bytes(int device, std::size_t size) {
  if (size > config().memory - used_bytes(device)) return false;
  used_bytes(device) += size;
  return true;
}

void uncount_bytes(int device, std::size_t size) { used_bytes(device) -= size; }

void begin_mapped_range(char* begin, std::size_t size, int device) {
  allocations()[begin] = {size, device, false, calling_place(), nullptr, Origin::mapped};
  if (runtime_observer) runtime_observer->allocated(begin, size, MemoryKind::device);
}

void begin_range_in_file(char* begin, std::size_t size, const CUmemPoolHandle_st& pool) {
  allocations()[begin] = {size,        pool.device,       false,    calling_place(),
                          pool.access, Origin::allocated, pool.file};
  if (runtime_observer) runtime_observer->allocated(begin, size, MemoryKind::device);
}

void end_mapped_range(char* begin) {
  allocations().erase(begin);
  if (runtime_observer) runtime_observer->released(begin);
}

MemoryRange classify(const void* pointer, std::size_t size) {
  const auto fits = [&](const char* begin, std::size_t available) {
    return size <= available - static_cast<std::size_t>(static_cast<const char*>(pointer) - begin);
  };
  if (auto found = range_at(allocations(), pointer); found != allocations().end())
    return {found->second.managed ? MemoryKind::managed : MemoryKind::device,
            fits(found->first, found->second.size)};
  if (auto found = range_at(pinned_ranges(), pointer); found != pinned_ranges().end())
    return {MemoryKind::pinned, true};
  if (const std::size_t left = bytes_of_symbol_at(pointer))
    return {MemoryKind::device, size <= left};
  return {MemoryKind::pageable, pointer != nullptr};
}

DeviceMemoryAccess::DeviceMemoryAccess() {
  if (!config().strict_memory) return;
  for (int device = 0; device < config().devices; ++device)
    for (const bool of_pools : {false, true}) open(arena(device, of_pools));
}

DeviceMemoryAccess::DeviceMemoryAccess(int device) {
  if (!config().strict_memory) return;
  const std::set<int>& peers = peers_of(device);
  for (int other = 0; other < config().devices; ++other) {
    if (other == device || peers.contains(other)) open(arena(other, false));
    if (other == device || pools_admit(other, device)) open(arena(other, true));
  }
}

DeviceMemoryAccess::~DeviceMemoryAccess() {
  for (Arena* arena : opened_) arena->close();
}

void DeviceMemoryAccess::open(Arena& arena) {
  arena.open();
  opened_.push_back(&arena);
}

}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaMalloc(void** pointer, std::size_t size) {
  HOSTCUDA_IN_KERNEL(allocate(pointer, size, __builtin_return_address(0)));
  HOSTCUDA_API_CALL;
  if (const cudaError_t error = refuse_unsafe_call()) return fail(error);
  return allocate(pointer, size, current_device(), false);
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t size, unsigned flags) {
  HOSTCUDA_API_CALL;
  if (size == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
    return fail(cudaErrorInvalidValue);
  return allocate(pointer, size, current_device(), true);
}

cudaError_t cudaFree(void* pointer) {
  HOSTCUDA_IN_KERNEL(release(pointer, __builtin_return_address(0)));
  HOSTCUDA_API_CALL;
  if (!pointer) return cudaSuccess;
  if (is_graph_memory(pointer)) return free_graph_memory(pointer);
  if (!is_allocation(pointer)) return refuse_free(pointer);
  const auto found = allocations().find(static_cast<char*>(pointer));
  if (const cudaError_t error = refuse_unsafe_call()) return fail(error);
  synchronize_device(found->second.device);  // on a GPU, cudaFree also waits
  release(static_cast<char*>(pointer));
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t size, unsigned flags) {
  HOSTCUDA_API_CALL;
  constexpr unsigned kAllFlags =
      cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  if (!pointer || flags & ~kAllFlags) return fail(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  char* bytes = allocate_pages(size);
  if (!bytes) return fail(cudaErrorMemoryAllocation);
  *pointer = bytes;
  pinned_ranges()[bytes] = {size, true, calling_place(), flags};
  if (runtime_observer) runtime_observer->allocated(bytes, size, MemoryKind::pinned);
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void** pointer, std::size_t size) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  return cudaHostAlloc(pointer, size, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void* pointer) {
  HOSTCUDA_API_CALL;
  if (!pointer) return cudaSuccess;
  const auto found = pinned_ranges().find(static_cast<char*>(pointer));
  if (found == pinned_ranges().end() || !found->second.ours) return refuse_free(pointer);
  for (int device = 0; device < config().devices; ++device) synchronize_device(device);
  char* bytes = found->first;
  look_at_guard({bytes, found->second.size, found->second.place});
  pinned_ranges().erase(found);
  if (runtime_observer) runtime_observer->released(bytes);
  release_pages(bytes);
  return cudaSuccess;
}

cudaError_t cudaHostRegister(void* pointer, std::size_t size, unsigned flags) {
  HOSTCUDA_API_CALL;
  constexpr unsigned kAllFlags = 15;  // portable, mapped, of a device, read-only
  if (!pointer || !size || flags & ~kAllFlags) return fail(cudaErrorInvalidValue);
  if (range_at(pinned_ranges(), pointer) != pinned_ranges().end())
    return fail(cudaErrorHostMemoryAlreadyRegistered);
  pinned_ranges()[static_cast<char*>(pointer)] = {size, false, {}};
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* pointer) {
  HOSTCUDA_API_CALL;
  const auto found = pinned_ranges().find(static_cast<char*>(pointer));
  if (found == pinned_ranges().end() || found->second.ours)
    return fail(cudaErrorHostMemoryNotRegistered);
  pinned_ranges().erase(found);
  return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  HOSTCUDA_API_CALL;
  const auto found = range_at(pinned_ranges(), host);
  if (!flags || found == pinned_ranges().end() || !found->second.ours)
    return fail(cudaErrorInvalidValue);
  *flags = found->second.flags;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  HOSTCUDA_API_CALL;
  if (!free || !total) return fail(cudaErrorInvalidValue);
  *total = config().memory;
  *free = config().memory - used_bytes(current_device());
  return cudaSuccess;
}

// Pinned host memory has one address here, for host code and kernels.
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  HOSTCUDA_API_CALL;
  if (!device || flags || classify(host, 1).kind != MemoryKind::pinned)
    return fail(cudaErrorInvalidValue);
  *device = host;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  HOSTCUDA_API_CALL;
  if (!attributes) return fail(cudaErrorInvalidValue);
  void* address = const_cast<void*>(pointer);
  const auto found = range_at(allocations(), pointer);
  const int device = found == allocations().end() ? current_device() : found->second.device;
  switch (classify(pointer, 1).kind) {
    case MemoryKind::device:
      *attributes = {cudaMemoryTypeDevice, device, address, nullptr};
      break;
    case MemoryKind::managed:
      *attributes = {cudaMemoryTypeManaged, device, address, address};
      break;
    case MemoryKind::pinned:
      *attributes = {cudaMemoryTypeHost, device, address, address};
      break;
    case MemoryKind::pageable:
      *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, address};
  }
  return cudaSuccess;
}
