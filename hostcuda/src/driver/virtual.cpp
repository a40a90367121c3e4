// Virtual addresses: cuMemAddressReserve reserves them, cuMemCreate allocates memory, and cuMemMap
// puts the memory there. The memory is a file without a name, so that it can be mapped several
// times and shared with other processes.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <vector>

#include "driver/call.h"
#include "runtime/device.h"
#include "runtime/memory.h"
#include "runtime/stream.h"
#include "support/config.h"
#include "support/observer.h"
#include "support/poison.h"

namespace hostcuda {
namespace {

constexpr std::size_t kGranularity = std::size_t{2} << 20;

struct Physical {
  int file;
  std::size_t size;
  CUmemAllocationProp properties;
  bool counts;         // for HOSTCUDA_MEMORY; false if another process allocated it
  unsigned users = 1;  // handles and mappings
};

struct Mapping {
  std::size_t size;
  Physical* physical;
  std::map<int, CUmemAccess_flags> access;  // of each device that has access

  // All devices use the same pages, so these have the most that any device may do.
  int protection() const {
    int allowed = PROT_NONE;
    for (const auto& [device, flags] : access)
      allowed |= flags == CU_MEM_ACCESS_FLAGS_PROT_READ ? PROT_READ : PROT_READ | PROT_WRITE;
    return allowed;
  }
};

using Ranges = std::map<char*, std::size_t>;

struct Spaces {
  Ranges reserved;
  std::map<char*, Mapping> mapped;
  Ranges usable;  // runs of adjacent accessible mappings, which the runtime knows
  std::map<CUmemGenericAllocationHandle, unsigned> handles;  // and how often each is retained
};
Spaces& spaces() {
  static auto* known = new Spaces;
  return *known;
}

char* bytes_at(CUdeviceptr address) { return static_cast<char*>(pointer_of(address)); }

Physical* physical_of(CUmemGenericAllocationHandle handle) {
  return spaces().handles.contains(handle) ? reinterpret_cast<Physical*>(handle) : nullptr;
}

CUmemGenericAllocationHandle handle_of(Physical* physical) {
  const auto handle = reinterpret_cast<CUmemGenericAllocationHandle>(physical);
  ++spaces().handles[handle];
  return handle;
}

void drop(Physical* physical) {
  if (--physical->users) return;
  close(physical->file);
  if (physical->counts) uncount_bytes(physical->properties.location.id, physical->size);
  delete physical;
}

bool make_inaccessible(char* begin, std::size_t size) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  return mmap(begin, size, PROT_NONE, kFlags, -1, 0) != MAP_FAILED;
}

// Returns the reservation that contains the whole range, or end().
Ranges::iterator reservation_of(const char* begin, std::size_t size) {
  Ranges& reserved = spaces().reserved;
  auto next = reserved.upper_bound(const_cast<char*>(begin));
  if (next == reserved.begin()) return reserved.end();
  const auto found = std::prev(next);
  const auto offset = static_cast<std::size_t>(begin - found->first);
  return offset <= found->second && size <= found->second - offset ? found : reserved.end();
}

// Returns the mappings that together are exactly the range, or none.
std::vector<std::map<char*, Mapping>::iterator> mappings_in(char* begin, std::size_t size) {
  std::vector<std::map<char*, Mapping>::iterator> found;
  auto& mapped = spaces().mapped;
  char* at = begin;
  for (auto next = mapped.find(begin);
       next != mapped.end() && next->first == at && static_cast<std::size_t>(at - begin) < size;
       ++next) {
    at += next->second.size;
    found.push_back(next);
  }
  if (at != begin + size) found.clear();
  return found;
}

// Tells the runtime which ranges of a reservation kernels and copies may use. A copy may extend
// over several mappings, so adjacent ones are one range.
void update_usable(const Ranges::value_type& reservation) {
  Spaces& all = spaces();
  const Ranges before = all.usable;
  Ranges now;
  std::map<char*, int> devices;
  for (const auto& [begin, mapping] : all.mapped) {
    if (reservation_of(begin, mapping.size)->first != reservation.first || mapping.access.empty())
      continue;
    auto last = now.empty() ? now.end() : std::prev(now.end());
    if (last != now.end() && last->first + last->second == begin) {
      last->second += mapping.size;
    } else {
      now[begin] = mapping.size;
      devices[begin] = mapping.physical->properties.location.id;
    }
  }
  const auto is_here = [&](const char* begin) {
    return begin >= reservation.first && begin < reservation.first + reservation.second;
  };
  for (const auto& [begin, size] : before)
    if (const auto same = now.find(begin);
        is_here(begin) && (same == now.end() || same->second != size)) {
      end_mapped_range(begin);
      all.usable.erase(begin);
    }
  for (const auto& [begin, size] : now) {
    if (!all.usable.emplace(begin, size).second) continue;
    begin_mapped_range(begin, size, devices[begin]);
    if (!runtime_observer) continue;
    // The parts that were usable before may have been written.
    for (const auto& [old, old_size] : before)
      if (old >= begin && old + old_size <= begin + size)
        runtime_observer->copied(old, nullptr, old_size);
  }
}

CUresult check_location(const CUmemLocation& location) {
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
  return valid_device(location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult check_access(const CUmemAccessDesc& access) {
  const CUmemAccess_flags flags = access.flags;
  if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
      flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
    return CUDA_ERROR_INVALID_VALUE;
  return check_location(access.location);
}

CUresult check_properties(const CUmemAllocationProp* wanted) {
  if (!wanted || wanted->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  constexpr unsigned kEmulated = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  if (wanted->requestedHandleTypes & ~kEmulated) return CUDA_ERROR_NOT_SUPPORTED;
  return check_location(wanted->location);
}

void poison_file(int file, std::size_t size) {
  if (!config().poison || size > kPoisonLimit) return;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return;
  fill_with_poison(static_cast<char*>(memory), size);
  munmap(memory, size);
}

}  // namespace
}  // namespace hostcuda

using namespace hostcuda;

CUresult cuMemGetAllocationGranularity(std::size_t* granularity, const CUmemAllocationProp* wanted,
                                       CUmemAllocationGranularity_flags) {
  HOSTCUDA_DRIVER_CALL;
  if (!granularity) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = check_properties(wanted)) return error;
  *granularity = kGranularity;
  return CUDA_SUCCESS;
}

// ---- addresses ----------------------------------------------------------------------------------

CUresult cuMemAddressReserve(CUdeviceptr* pointer, std::size_t size, std::size_t alignment,
                             CUdeviceptr, unsigned long long flags) {
  HOSTCUDA_DRIVER_CALL;
  if (!pointer || !size || size % kGranularity || flags || (alignment & (alignment - 1)))
    return CUDA_ERROR_INVALID_VALUE;
  alignment = std::max(alignment, kGranularity);
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const room = mmap(nullptr, size + alignment, PROT_NONE, kFlags, -1, 0);
  if (room == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto first = reinterpret_cast<std::uintptr_t>(room);
  const std::size_t skipped = (alignment - first % alignment) % alignment;
  char* const begin = static_cast<char*>(room) + skipped;
  if (skipped) munmap(room, skipped);
  if (skipped < alignment) munmap(begin + size, alignment - skipped);
  spaces().reserved[begin] = size;
  *pointer = address_of(begin);
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr pointer, std::size_t size) {
  HOSTCUDA_DRIVER_CALL;
  const auto found = spaces().reserved.find(bytes_at(pointer));
  if (found == spaces().reserved.end() || found->second != size) return CUDA_ERROR_INVALID_VALUE;
  for (const auto& [begin, mapping] : spaces().mapped)
    if (begin >= found->first && begin < found->first + size) return CUDA_ERROR_INVALID_VALUE;
  munmap(found->first, size);
  spaces().reserved.erase(found);
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr pointer, std::size_t size, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  HOSTCUDA_DRIVER_CALL;
  Physical* const physical = physical_of(handle);
  char* const begin = bytes_at(pointer);
  if (!physical || offset || flags || !size || size % kGranularity || size > physical->size ||
      pointer % kGranularity || reservation_of(begin, size) == spaces().reserved.end())
    return CUDA_ERROR_INVALID_VALUE;
  for (const auto& [other, mapping] : spaces().mapped)
    if (other < begin + size && begin < other + mapping.size) return CUDA_ERROR_INVALID_VALUE;
  if (mmap(begin, size, PROT_NONE, MAP_SHARED | MAP_FIXED, physical->file, 0) == MAP_FAILED)
    return CUDA_ERROR_OUT_OF_MEMORY;
  ++physical->users;
  spaces().mapped[begin] = {size, physical, {}};
  return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr pointer, std::size_t size) {
  HOSTCUDA_DRIVER_CALL;
  const auto found = mappings_in(bytes_at(pointer), size);
  if (found.empty()) return CUDA_ERROR_INVALID_VALUE;
  for (int device = 0; device < config().devices; ++device) synchronize_device(device);
  const auto reservation = *reservation_of(bytes_at(pointer), size);
  std::vector<Physical*> unmapped;
  for (const auto& mapping : found) {
    unmapped.push_back(mapping->second.physical);
    spaces().mapped.erase(mapping);
  }
  update_usable(reservation);
  for (Physical* physical : unmapped) drop(physical);
  return make_inaccessible(bytes_at(pointer), size) ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

CUresult cuMemSetAccess(CUdeviceptr pointer, std::size_t size, const CUmemAccessDesc* access,
                        std::size_t count) {
  HOSTCUDA_DRIVER_CALL;
  const auto found = mappings_in(bytes_at(pointer), size);
  if (found.empty() || !access || !count) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i)
    if (const CUresult error = check_access(access[i])) return error;
  for (const auto& place : found) {
    auto& [begin, mapping] = *place;
    for (std::size_t i = 0; i < count; ++i)
      if (access[i].flags)
        mapping.access[access[i].location.id] = access[i].flags;
      else
        mapping.access.erase(access[i].location.id);
    if (mprotect(begin, mapping.size, mapping.protection()) != 0)
      return CUDA_ERROR_OPERATING_SYSTEM;
  }
  update_usable(*reservation_of(bytes_at(pointer), size));
  return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr pointer) {
  HOSTCUDA_DRIVER_CALL;
  if (!flags || !location) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = check_location(*location)) return error;
  for (const auto& [begin, mapping] : spaces().mapped)
    if (static_cast<std::size_t>(bytes_at(pointer) - begin) < mapping.size) {
      const auto found = mapping.access.find(location->id);
      *flags = found == mapping.access.end() ? 0 : static_cast<unsigned>(found->second);
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_INVALID_VALUE;
}

// ---- memory -------------------------------------------------------------------------------------

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t size,
                     const CUmemAllocationProp* wanted, unsigned long long flags) {
  HOSTCUDA_DRIVER_CALL;
  if (!handle || !size || size % kGranularity || flags) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = check_properties(wanted)) return error;
  if (!count_bytes(wanted->location.id, size)) return CUDA_ERROR_OUT_OF_MEMORY;
  const int file = memfd_create("hostcuda-memory", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) {
    if (file >= 0) close(file);
    uncount_bytes(wanted->location.id, size);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  poison_file(file, size);
  *handle = handle_of(new Physical{file, size, *wanted, true});
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  HOSTCUDA_DRIVER_CALL;
  Physical* const physical = physical_of(handle);
  if (!physical) return CUDA_ERROR_INVALID_VALUE;
  if (--spaces().handles[handle] == 0) spaces().handles.erase(handle);
  drop(physical);
  return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* pointer) {
  HOSTCUDA_DRIVER_CALL;
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  for (const auto& [begin, mapping] : spaces().mapped)
    if (static_cast<std::size_t>(static_cast<char*>(pointer) - begin) < mapping.size) {
      ++mapping.physical->users;
      *handle = handle_of(mapping.physical);
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                CUmemGenericAllocationHandle handle) {
  HOSTCUDA_DRIVER_CALL;
  const Physical* const physical = physical_of(handle);
  if (!properties || !physical) return CUDA_ERROR_INVALID_VALUE;
  *properties = physical->properties;
  return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void* shared, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
  HOSTCUDA_DRIVER_CALL;
  const Physical* const physical = physical_of(handle);
  if (!shared || !physical || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
      !(physical->properties.requestedHandleTypes & type))
    return CUDA_ERROR_INVALID_VALUE;
  const int file = fcntl(physical->file, F_DUPFD_CLOEXEC, 0);
  if (file < 0) return CUDA_ERROR_OPERATING_SYSTEM;
  *static_cast<int*>(shared) = file;
  return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shared,
                                        CUmemAllocationHandleType type) {
  HOSTCUDA_DRIVER_CALL;
  if (!handle || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
  struct stat status = {};
  const int file =
      fcntl(static_cast<int>(reinterpret_cast<std::intptr_t>(shared)), F_DUPFD_CLOEXEC, 0);
  if (file < 0) return CUDA_ERROR_INVALID_VALUE;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(file);
    return CUDA_ERROR_INVALID_VALUE;
  }
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = type;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, current_device()};
  *handle =
      handle_of(new Physical{file, static_cast<std::size_t>(status.st_size), properties, false});
  return CUDA_SUCCESS;
}
