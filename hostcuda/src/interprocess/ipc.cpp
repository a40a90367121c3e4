// Handles of memory and events for other processes.
#include <unistd.h>

#include <cstring>
#include <map>

#include "hostcuda/interprocess/ipc_api.h"
#include "interprocess/shared_pages.h"
#include "runtime/api.h"
#include "runtime/device.h"
#include "runtime/event.h"
#include "runtime/memory.h"
#include "runtime/stream.h"
#include "support/observer.h"
#include "support/sanitizer.h"

namespace hostcuda {
namespace {

struct Opened {
  PagesHandle handle;
  char* pages;
};

// The handles of this process's memory, and the memory of other processes that it has opened.
std::map<const void*, PagesHandle>& shared() {
  static auto* map = new std::map<const void*, PagesHandle>;
  return *map;
}
std::map<const void*, Opened>& opened() {
  static auto* map = new std::map<const void*, Opened>;
  return *map;
}

static_assert(sizeof(PagesHandle) <= sizeof(cudaIpcMemHandle_t));
template <class Handle>
Handle wrapped(const PagesHandle& pages) {
  Handle handle = {};
  std::memcpy(&handle, &pages, sizeof pages);
  return handle;
}
template <class Handle>
PagesHandle unwrapped(const Handle& handle) {
  PagesHandle pages;
  std::memcpy(static_cast<void*>(&pages), &handle, sizeof pages);
  return pages;
}

// AddressSanitizer's memory of other objects may be in the same page.
cudaError_t refuse_tracing() {
  return runtime_observer || has_address_sanitizer()
             ? fail(cudaErrorNotSupported,
                    "a program that is traced or has AddressSanitizer cannot share memory with "
                    "another process")
             : cudaSuccess;
}

}  // namespace

void forget_shared(const void* memory) {
  const auto found = shared().find(memory);
  if (found == shared().end()) return;
  const DeviceMemoryAccess access;
  unshare_pages(static_cast<char*>(const_cast<void*>(memory)), found->second);
  shared().erase(found);
}

}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* memory) {
  HOSTCUDA_API_CALL;
  if (const cudaError_t error = refuse_tracing()) return error;
  const std::size_t size = size_of_device_allocation(memory);
  if (!handle || !size)
    return fail(cudaErrorInvalidValue, "only memory from cudaMalloc has a handle");
  auto known = shared().find(memory);
  if (known == shared().end()) {
    const DeviceMemoryAccess access;
    const PagesHandle pages = share_pages(static_cast<char*>(memory), size);
    if (!pages.magic) return fail(cudaErrorNotSupported, "the memory cannot be shared");
    known = shared().emplace(memory, pages).first;
  }
  *handle = wrapped<cudaIpcMemHandle_t>(known->second);
  return cudaSuccess;
}

cudaError_t cudaIpcOpenMemHandle(void** memory, cudaIpcMemHandle_t handle, unsigned flags) {
  HOSTCUDA_API_CALL;
  if (const cudaError_t error = refuse_tracing()) return error;
  if (!memory || flags > cudaIpcMemLazyEnablePeerAccess) return fail(cudaErrorInvalidValue);
  const PagesHandle pages = unwrapped(handle);
  if (pages.process == getpid())
    return fail(cudaErrorDeviceUninitialized, "a process cannot open its own handle");
  char* mapped = map_pages(pages);
  if (!mapped) return fail(cudaErrorInvalidResourceHandle);
  *memory = mapped + pages.offset;
  opened()[*memory] = {pages, mapped};
  adopt_memory(mapped + pages.offset, pages.bytes, current_device());
  return cudaSuccess;
}

cudaError_t cudaIpcCloseMemHandle(void* memory) {
  HOSTCUDA_API_CALL;
  const auto found = opened().find(memory);
  if (found == opened().end()) return fail(cudaErrorInvalidValue);
  for (int device = 0; valid_device(device); ++device) synchronize_device(device);
  disown_memory(memory);
  unmap_pages(found->second.pages, found->second.handle);
  opened().erase(found);
  return cudaSuccess;
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  HOSTCUDA_API_CALL;
  if (const cudaError_t error = refuse_tracing()) return error;
  const SharedRecordings* recordings = recordings_of(event);
  if (!handle || !recordings)
    return fail(cudaErrorInvalidResourceHandle,
                "the event needs cudaEventInterprocess and cudaEventDisableTiming");
  *handle = wrapped<cudaIpcEventHandle_t>(recordings->handle());
  return cudaSuccess;
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  HOSTCUDA_API_CALL;
  if (const cudaError_t error = refuse_tracing()) return error;
  if (!event) return fail(cudaErrorInvalidValue);
  std::shared_ptr<SharedRecordings> recordings = SharedRecordings::open(unwrapped(handle));
  if (!recordings) return fail(cudaErrorInvalidResourceHandle);
  *event = new_event(std::move(recordings));
  return cudaSuccess;
}
