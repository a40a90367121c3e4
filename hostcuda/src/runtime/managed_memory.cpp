// __managed__ variables, and hints about managed memory, which have no effect but can be queried.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "memory/allocations.h"
#include "runtime/api.h"
#include "runtime/device.h"
#include "runtime/memory.h"
#include "runtime/stream.h"
#include "support/module_code.h"

namespace hostcuda {
namespace {

bool is_place(int device) { return device == cudaCpuDeviceId || valid_device(device); }

int device_of(cudaMemLocation location) {
  return location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId;
}

void begin_piece(std::map<std::size_t, UsageHints>& hints, std::size_t offset) {
  hints.emplace(offset, std::prev(hints.upper_bound(offset))->second);
}

// Calls visit(hints) for the pieces of a range of managed memory.
template <class Visit>
cudaError_t for_pieces(const void* pointer, std::size_t size, const Visit& visit) {
  const auto found = range_at(allocations(), pointer);
  if (!size || found == allocations().end() || !found->second.managed ||
      !classify(pointer, size).valid)
    return fail(cudaErrorInvalidValue);
  auto& hints = found->second.hints;
  const auto begin = static_cast<std::size_t>(static_cast<const char*>(pointer) - found->first);
  begin_piece(hints, begin);
  begin_piece(hints, begin + size);
  for (auto piece = hints.find(begin); piece->first < begin + size; ++piece) visit(piece->second);
  return cudaSuccess;
}

bool names_place(cudaMemoryAdvise advice) {
  return advice == cudaMemAdviseSetPreferredLocation || advice == cudaMemAdviseSetAccessedBy ||
         advice == cudaMemAdviseUnsetAccessedBy;
}

void advise(UsageHints& hints, cudaMemoryAdvise advice, int place) {
  switch (advice) {
    case cudaMemAdviseSetReadMostly:
    case cudaMemAdviseUnsetReadMostly:
      hints.read_mostly = advice == cudaMemAdviseSetReadMostly;
      return;
    case cudaMemAdviseSetPreferredLocation:
      hints.preferred = place;
      return;
    case cudaMemAdviseUnsetPreferredLocation:
      hints.preferred = cudaInvalidDeviceId;
      return;
    case cudaMemAdviseSetAccessedBy:
      hints.accessed_by.insert(place);
      return;
    case cudaMemAdviseUnsetAccessedBy:
      hints.accessed_by.erase(place);
  }
}

// Reduces the hints of a further piece to those that it shares with the pieces before.
void keep_common(UsageHints& common, const UsageHints& piece) {
  common.read_mostly = common.read_mostly && piece.read_mostly;
  if (common.preferred != piece.preferred) common.preferred = cudaInvalidDeviceId;
  if (common.prefetched != piece.prefetched) common.prefetched = cudaInvalidDeviceId;
  std::erase_if(common.accessed_by, [&](int place) { return !piece.accessed_by.contains(place); });
}

int type_of(int place) {
  if (place == cudaInvalidDeviceId) return cudaMemLocationTypeInvalid;
  return place == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
}

// The value of an attribute other than cudaMemRangeAttributeAccessedBy.
int value_of(cudaMemRangeAttribute attribute, const UsageHints& hints) {
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly:
      return hints.read_mostly;
    case cudaMemRangeAttributePreferredLocation:
    case cudaMemRangeAttributePreferredLocationId:
      return hints.preferred;
    case cudaMemRangeAttributePreferredLocationType:
      return type_of(hints.preferred);
    case cudaMemRangeAttributeLastPrefetchLocationType:
      return type_of(hints.prefetched);
    default:
      return hints.prefetched;
  }
}

void write_places(const std::set<int>& places, int* to, std::size_t room) {
  std::fill_n(to, room, cudaInvalidDeviceId);
  for (const int place : places)
    if (room) *to++ = place, --room;
}

[[maybe_unused]] const bool forgets_managed_variables =
    forgets_code_with([](const char* begin, const char* end) {
      auto& known = allocations();
      known.erase(known.lower_bound(const_cast<char*>(begin)),
                  known.lower_bound(const_cast<char*>(end)));
    });

}  // namespace

ManagedVariable::ManagedVariable(const volatile void* address, std::size_t size, const char*) {
  auto* begin = static_cast<char*>(const_cast<void*>(address));
  allocations()[begin] = {size, 0, true, {}, nullptr, Origin::variable};
}

}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t size, int device,
                                 cudaStream_t handle) {
  HOSTCUDA_API_CALL_ON(handle);
  if (!is_place(device)) return fail(cudaErrorInvalidDevice);
  return for_pieces(pointer, size, [&](UsageHints& hints) { hints.prefetched = device; });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t size, cudaMemLocation location,
                                 unsigned, cudaStream_t stream) {
  return cudaMemPrefetchAsync(pointer, size, device_of(location), stream);
}

cudaError_t cudaMemAdvise(const void* pointer, std::size_t size, cudaMemoryAdvise advice,
                          int device) {
  HOSTCUDA_API_CALL;
  if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
    return fail(cudaErrorInvalidValue);
  if (names_place(advice) && !is_place(device)) return fail(cudaErrorInvalidDevice);
  return for_pieces(pointer, size, [&](UsageHints& hints) { advise(hints, advice, device); });
}

cudaError_t cudaMemAdvise(const void* pointer, std::size_t size, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return cudaMemAdvise(pointer, size, advice, device_of(location));
}

cudaError_t cudaMemRangeGetAttribute(void* data, std::size_t data_size,
                                     cudaMemRangeAttribute attribute, const void* pointer,
                                     std::size_t size) {
  HOSTCUDA_API_CALL;
  if (attribute < cudaMemRangeAttributeReadMostly ||
      attribute > cudaMemRangeAttributeLastPrefetchLocationId)
    return fail(cudaErrorInvalidValue);
  const bool is_list = attribute == cudaMemRangeAttributeAccessedBy;
  if (!data || !data_size || data_size % sizeof(int) || (!is_list && data_size != sizeof(int)))
    return fail(cudaErrorInvalidValue);
  UsageHints common;
  bool is_first = true;
  const cudaError_t error = for_pieces(pointer, size, [&](const UsageHints& hints) {
    if (is_first) common = hints;
    is_first = false;
    keep_common(common, hints);
  });
  if (error) return error;
  const int value = value_of(attribute, common);
  if (is_list)
    write_places(common.accessed_by, static_cast<int*>(data), data_size / sizeof(int));
  else
    std::memcpy(data, &value, sizeof value);
  return cudaSuccess;
}

cudaError_t cudaMemRangeGetAttributes(void** data, std::size_t* data_sizes,
                                      cudaMemRangeAttribute* attributes, std::size_t count,
                                      const void* pointer, std::size_t size) {
  HOSTCUDA_API_CALL;
  if (!data || !data_sizes || !attributes || !count) return fail(cudaErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i)
    if (const cudaError_t error =
            cudaMemRangeGetAttribute(data[i], data_sizes[i], attributes[i], pointer, size))
      return error;
  return cudaSuccess;
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t handle, void* pointer, std::size_t, unsigned) {
  HOSTCUDA_API_CALL_ON(handle);
  return for_pieces(pointer, 1, [](const UsageHints&) {});
}
