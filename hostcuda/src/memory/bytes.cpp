#include "memory/bytes.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "memory/allocations.h"
#include "memory/pages.h"
#include "memory/pool.h"
#include "support/config.h"
#include "support/fault.h"
#include "support/hint.h"
#include "support/observer.h"
#include "support/poison.h"
#include "support/sanitizer.h"

namespace hostcuda {
namespace {

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

Pool& pool() {
  static auto* instance = new Pool;
  return *instance;
}

// Calls visit(owner) for every allocation that may be in the pool.
template <class Visit>
void for_each_owner(const Visit& visit) {
  for (const auto& [begin, allocation] : allocations())
    if (allocation.origin != Origin::variable)
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

// With AddressSanitizer, the C library's functions allocate the memory, because the sanitizer
// guards such allocations to the byte.
bool uses_pool() { return !runtime_observer && !has_address_sanitizer() && pool().is_usable(); }

char* allocate_in_pool(std::size_t size) {
  name_fault_causes_with(name_missed_allocation);
  [[maybe_unused]] static const bool registered = std::atexit(look_at_all_guards) == 0;
  return pool().allocate(size);
}

}  // namespace

Arena& arena(int device, bool of_pools) {
  static auto* list = new std::vector<Arena>(2 * static_cast<std::size_t>(config().devices));
  return (*list)[2 * static_cast<std::size_t>(device) + of_pools];
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

void look_at_all_guards() { for_each_owner(look_at_guard); }

char* allocate_pages(std::size_t size) {
  if (runtime_observer) return runtime_observer->provide(size);
  if (uses_pool()) return allocate_in_pool(size);
  // Other objects of the heap must not be in pages that another process may get, except with
  // AddressSanitizer, which refuses to share memory.
  const std::size_t whole = has_address_sanitizer() ? size : whole_pages(size);
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

}  // namespace hostcuda
