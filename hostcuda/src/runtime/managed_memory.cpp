// Hints about managed memory, which are checked but have no effect.
#include "runtime/api.h"
#include "runtime/device.h"
#include "runtime/memory.h"
#include "runtime/stream.h"

namespace hostcuda {
namespace {

cudaError_t check_managed(const void* pointer, std::size_t size) {
  const MemoryRange range = classify(pointer, size);
  return range.valid && range.kind == MemoryKind::managed ? cudaSuccess
                                                          : fail(cudaErrorInvalidValue);
}

bool is_place(int device) { return device == cudaCpuDeviceId || valid_device(device); }

int device_of(cudaMemLocation location) {
  return location.type == cudaMemLocationTypeHost ? cudaCpuDeviceId : location.id;
}

}  // namespace
}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t size, int device,
                                 cudaStream_t handle) {
  HOSTCUDA_API_CALL_ON(handle);
  if (!is_place(device)) return fail(cudaErrorInvalidDevice);
  return check_managed(pointer, size);
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t size, cudaMemLocation location,
                                 unsigned, cudaStream_t stream) {
  return cudaMemPrefetchAsync(pointer, size, device_of(location), stream);
}

cudaError_t cudaMemAdvise(const void* pointer, std::size_t size, cudaMemoryAdvise, int device) {
  HOSTCUDA_API_CALL;
  if (!is_place(device)) return fail(cudaErrorInvalidDevice);
  return check_managed(pointer, size);
}

cudaError_t cudaMemAdvise(const void* pointer, std::size_t size, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return cudaMemAdvise(pointer, size, advice, device_of(location));
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t handle, void* pointer, std::size_t, unsigned) {
  HOSTCUDA_API_CALL_ON(handle);
  return check_managed(pointer, 1);
}
