#include "runtime/memory.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graphs/graph_memory.h"
#include "interprocess/shared_pages.h"
#include "memory/arena.h"
#include "memory/pool.h"
#include "runtime/api.h"
#include "runtime/device.h"
#include "runtime/memory_pool.h"
#include "runtime/stream.h"
#include "runtime/symbol.h"
#include "support/config.h"
#include "support/fault.h"
#include "support/hint.h"
#include "support/observer.h"
#include "support/poison.h"
#include "support/sanitizer.h"

namespace hostcuda {
namespace {

// The program cannot free the others by their addresses: a range of addresses at which cuMemMap put
// memory, and memory of another process, opened by a handle.
enum class Origin { allocated, mapped, of_other_process };

struct Allocation {
  std::size_t size;
  int device;
  bool managed;  // host code may access it
  CodePlace place;
  std::shared_ptr<const PoolAccess> pool;  // null for memory from cudaMalloc
  Origin origin = Origin::allocated;
  std::shared_ptr<SharedFile> file = nullptr;  // the file of the pool that contains the memory
};

std::map<char*, Allocation>& allocations() {
  static auto* map = new std::map<char*, Allocation>;
  return *map;
}

struct PinnedRange {
  std::size_t size;
  bool ours;  // allocated by cudaMallocHost; otherwise only registered
  CodePlace place;
};

std::map<char*, PinnedRange>& pinned_ranges() {
  static auto* map = new std::map<char*, PinnedRange>;
  return *map;
}

// The memory of a device, or of the device's pools, to which other devices get access separately.
Arena& arena(int device, bool of_pools) {
  static auto* list = new std::vector<Arena>(2 * static_cast<std::size_t>(config().devices));
  return (*list)[2 * static_cast<std::size_t>(device) + of_pools];
}

std::size_t& used_bytes(int device) {
  static auto* list = new std::vector<std::size_t>(static_cast<std::size_t>(config().devices));
  return (*list)[static_cast<std::size_t>(device)];
}

// Returns the range that contains the pointer, or end().
template <class Map>
auto range_at(Map& map, const void* pointer) {
  char* byte = static_cast<char*>(const_cast<void*>(pointer));
  auto next = map.upper_bound(byte);
  if (next == map.begin()) return map.end();
  auto range = std::prev(next);
  return byte < range->first + range->second.size ? range : map.end();
}

bool name_device_memory(const Fault& fault, char* text, std::size_t size) {
  for (int device = 0; device < config().devices; ++device) {
    if (!arena(device, false).contains(fault.address) &&
        !arena(device, true).contains(fault.address))
      continue;
    std::snprintf(
        text, size, "memory of device %d%s", device,
        fault.in_kernel
            ? " that is freed or out of bounds, or to which this device has no peer access"
            : ", which only kernels and copies may access");
    return true;
  }
  return false;
}

CodePlace calling_place() {
  const CallSite* call = CallSite::current();
  return call ? call->place() : CodePlace{};
}

Pool& pool() {
  static auto* instance = new Pool;
  return *instance;
}

// An allocation of device or pinned memory in the pool.
struct Owner {
  const char* begin = nullptr;
  std::size_t size = 0;
  CodePlace place;
};

// Calls visit(owner) for every allocation that may be in the pool.
template <class Visit>
void for_each_owner(const Visit& visit) {
  for (const auto& [begin, allocation] : allocations())
    visit(Owner{begin, allocation.size, allocation.place});
  for (const auto& [begin, range] : pinned_ranges()) visit(Owner{begin, range.size, range.place});
}

std::size_t distance(const Owner& owner, const char* address) {
  return static_cast<std::size_t>(address < owner.begin ? owner.begin - address
                                                        : address - owner.begin);
}

// Describes the allocation that a kernel probably meant to access. This function, and source_line()
// which it calls, may run in a signal handler.
bool name_missed_allocation(const Fault& fault, char* text, std::size_t size) {
  if (!pool().contains(fault.address)) return false;
  Owner nearest;
  for_each_owner([&](const Owner& owner) {
    if (!nearest.begin || distance(owner, fault.address) < distance(nearest, fault.address))
      nearest = owner;
  });
  const bool is_before = fault.address < nearest.begin;
  if (!nearest.begin || (!is_before && fault.address < nearest.begin + nearest.size)) return false;
  char place[512];
  const bool has_line =
      nearest.place.return_address &&
      source_line(static_cast<const char*>(nearest.place.return_address) - 1, place, sizeof place);
  std::snprintf(text, size, "%zu bytes %s of an array of %zu bytes%s%s",
                distance(nearest, fault.address) - (is_before ? 0 : nearest.size),
                is_before ? "before the beginning" : "past the end", nearest.size,
                has_line ? ", allocated at " : "", has_line ? place : "");
  return true;
}

void look_at_guard(const Owner& owner) {
  const Pool::Guard guard = pool().guard_of(owner.begin);
  if (guard == Pool::Guard::intact) return;
  const std::string place = owner.place.text();
  hint(std::string("a kernel or a copy wrote ") +
       (guard == Pool::Guard::written_past ? "past the end" : "before the beginning") +
       " of an array of " + std::to_string(owner.size) + " bytes" +
       (place.empty() ? "" : ", allocated at " + place));
}

// With AddressSanitizer, the C library's functions allocate the memory, because the sanitizer
// guards such allocations to the byte.
bool uses_pool() { return !runtime_observer && !kAddressSanitizer && pool().is_usable(); }

char* allocate_in_pool(std::size_t size) {
  name_fault_causes_with(name_missed_allocation);
  [[maybe_unused]] static const bool registered = std::atexit(look_at_all_guards) == 0;
  return pool().allocate(size);
}

char* allocate_pages(std::size_t size) {
  if (runtime_observer) return runtime_observer->provide(size);
  if (uses_pool()) return allocate_in_pool(size);
  // Other objects of the heap must not be in pages that another process may get, except with
  // AddressSanitizer, which refuses to share memory.
  const std::size_t whole = kAddressSanitizer ? size : whole_pages(size);
  void* memory = nullptr;
  if (whole < size || posix_memalign(&memory, page_size(), whole) != 0) return nullptr;
  return static_cast<char*>(memory);
}

void release_pages(char* pointer) {
  if (pool().contains(pointer))
    pool().release(pointer);
  else if (!runtime_observer)
    std::free(pointer);
}

char* allocate_bytes(int device, std::size_t size, bool managed, bool of_pool) {
  const bool poison = config().poison && size <= kPoisonLimit;
  if (config().strict_memory && !managed) {
    name_fault_causes_with(name_device_memory);
    return arena(device, of_pool).allocate(size, poison);
  }
  const std::size_t room = config().room;
  char* memory = allocate_pages(size + room);
  if (memory && poison) fill_with_poison(memory, size);
  if (memory && room) std::memset(memory + size, 0, room);
  return memory;
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

void look_at_all_guards() { for_each_owner(look_at_guard); }

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
  if (const cudaError_t error = refuse_waiting_for_all()) return fail(error);
  return allocate(pointer, size, current_device(), false);
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t size, unsigned) {
  HOSTCUDA_API_CALL;
  return allocate(pointer, size, current_device(), true);
}

cudaError_t cudaFree(void* pointer) {
  HOSTCUDA_IN_KERNEL(release(pointer, __builtin_return_address(0)));
  HOSTCUDA_API_CALL;
  if (!pointer) return cudaSuccess;
  if (is_graph_memory(pointer)) return free_graph_memory(pointer);
  if (!is_allocation(pointer)) return refuse_free(pointer);
  const auto found = allocations().find(static_cast<char*>(pointer));
  if (const cudaError_t error = refuse_waiting_for_all()) return fail(error);
  synchronize_device(found->second.device);  // on a GPU, cudaFree also waits
  release(static_cast<char*>(pointer));
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t size, unsigned) {
  HOSTCUDA_API_CALL;
  if (!pointer) return fail(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  char* bytes = allocate_pages(size);
  if (!bytes) return fail(cudaErrorMemoryAllocation);
  *pointer = bytes;
  pinned_ranges()[bytes] = {size, true, calling_place()};
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

cudaError_t cudaHostRegister(void* pointer, std::size_t size, unsigned) {
  HOSTCUDA_API_CALL;
  if (!pointer || !size) return fail(cudaErrorInvalidValue);
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
