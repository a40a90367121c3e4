// Copies and fills memory. The behaviour depends on the kind of memory, not on the API function.
#include <cstring>
#include <memory>

#include "memory/bytes.h"
#include "runtime/api.h"
#include "runtime/device.h"
#include "runtime/memory.h"
#include "runtime/stream.h"
#include "runtime/symbol.h"
#include "support/config.h"
#include "support/hint.h"
#include "support/observer.h"
#include "support/poison.h"

namespace hostcuda {
namespace {

bool on_device(MemoryKind kind) {
  return kind == MemoryKind::device || kind == MemoryKind::managed;
}

bool on_host(MemoryKind kind) { return kind != MemoryKind::device; }

}  // namespace

bool direction_matches(MemoryKind to, MemoryKind from, cudaMemcpyKind direction) {
  switch (direction) {
    case cudaMemcpyHostToHost:
      return on_host(to) && on_host(from);
    case cudaMemcpyHostToDevice:
      return on_device(to) && on_host(from);
    case cudaMemcpyDeviceToHost:
      return on_host(to) && on_device(from);
    case cudaMemcpyDeviceToDevice:
      return on_device(to) && on_device(from);
    case cudaMemcpyDefault:
      return true;
  }
  return false;
}

namespace {

void tell_copy(void* to, const void* from, std::size_t size) {
  if (runtime_observer)
    runtime_observer->copied(static_cast<char*>(to), static_cast<const char*>(from), size);
}

// A plain run recognises unwritten memory only by its poison. Values may be unwritten because a
// kernel has written them outside the array, so the guards are examined first.
void look_for_poison(const void* copied, std::size_t size, const CodePlace& place) {
  if (runtime_observer || !config().poison || !is_poisoned(copied, size)) return;
  look_at_all_guards();
  const std::string line = place.text();
  hint((line.empty() ? "a copy" : "the copy at " + line) +
       " brings values to the host that were never written, or NaNs computed from such values");
}

// The parameters of a captured copy.
cudaMemcpy3DParms parameters_of(void* to, const void* from, std::size_t size,
                                cudaMemcpyKind direction) {
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(const_cast<void*>(from), size, size, 1);
  p.dstPtr = make_cudaPitchedPtr(to, size, size, 1);
  p.extent = make_cudaExtent(size, 1, 1);
  p.kind = direction;
  return p;
}

enum class Caller { waits, goes_on };

cudaError_t copy(void* to, const void* from, std::size_t size, cudaMemcpyKind direction,
                 CUstream_st& stream, Caller caller) {
  if (size == 0) return cudaSuccess;
  const MemoryRange target = classify(to, size);
  const MemoryRange source = classify(from, size);
  const auto refuse = [&](cudaError_t error) {
    if (runtime_observer) runtime_observer->copy_refused(to, from, size, direction);
    return fail(error);
  };
  if (!target.valid || !source.valid) return refuse(cudaErrorInvalidValue);
  if (variable_without_address(to) || variable_without_address(from))
    return refuse(cudaErrorInvalidValue);
  if (direction > cudaMemcpyDefault) return refuse(cudaErrorInvalidMemcpyDirection);
  if (!direction_matches(target.kind, source.kind, direction)) return refuse(cudaErrorInvalidValue);

  if (const cudaError_t error = capture_error(stream)) return fail(error);
  const bool device_to_device = on_device(target.kind) && on_device(source.kind);
  const bool host_to_host = !on_device(target.kind) && !on_device(source.kind);
  const bool to_host = on_device(source.kind) && !on_device(target.kind);
  const bool staged =
      source.kind == MemoryKind::pageable && on_device(target.kind) && !stream.capture;
  // The driver copies pageable memory to its own buffer before the call returns, so the caller may
  // then overwrite that memory.
  std::shared_ptr<std::vector<char>> buffer;
  if (staged && caller == Caller::goes_on)
    buffer = std::make_shared<std::vector<char>>(static_cast<const char*>(from),
                                                 static_cast<const char*>(from) + size);
  const auto work = [=, place = CallSite::current()->place()] {
    std::size_t possible = size;
    if (runtime_observer && target.kind == MemoryKind::pageable)
      possible = runtime_observer->uses_host_memory(to, size, true);
    if (runtime_observer && source.kind == MemoryKind::pageable && !buffer)
      possible = runtime_observer->uses_host_memory(from, possible, false);
    std::memmove(to, buffer ? buffer->data() : from, possible);
    tell_copy(to, buffer ? nullptr : from, size);
    if (to_host) look_for_poison(to, size, place);
  };
  const OperationPointer operation = enqueue_transfer(stream, work, cudaGraphNodeTypeMemcpy);
  describe_node(stream, parameters_of(to, from, size, direction));
  // A copy from device memory to device memory returns at once, even with cudaMemcpy. A copy to
  // pageable memory or between host buffers always waits.
  const bool waits = caller == Caller::waits ? !device_to_device
                                             : target.kind == MemoryKind::pageable || host_to_host;
  if (!waits) return cudaSuccess;
  if (caller == Caller::waits) host_waits();
  wait_for(operation);
  return result_of_waiting();
}

}  // namespace
}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t size, cudaMemcpyKind direction) {
  HOSTCUDA_API_CALL;
  return copy(to, from, size, direction, *find_stream(nullptr), Caller::waits);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size, cudaMemcpyKind direction,
                            cudaStream_t handle) {
  HOSTCUDA_IN_KERNEL(copy(to, from, size, direction, handle));
  HOSTCUDA_API_CALL_ON(handle);
  return copy(to, from, size, direction, *stream, Caller::goes_on);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t size, cudaStream_t handle) {
  HOSTCUDA_API_CALL;
  if (!valid_device(to_device) || !valid_device(from_device)) return fail(cudaErrorInvalidDevice);
  CUstream_st* stream = find_stream(handle);
  if (!stream) return fail(cudaErrorInvalidResourceHandle);
  return copy(to, from, size, cudaMemcpyDeviceToDevice, *stream, Caller::goes_on);
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t size) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  return cudaMemcpyPeerAsync(to, to_device, from, from_device, size, nullptr);
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t size, cudaStream_t handle) {
  HOSTCUDA_IN_KERNEL(fill(pointer, value, size, handle));
  HOSTCUDA_API_CALL_ON(handle);
  if (size == 0) return cudaSuccess;
  const MemoryRange range = classify(pointer, size);
  // A GPU also fills pinned memory.
  if (!range.valid || range.kind == MemoryKind::pageable) {
    if (runtime_observer) runtime_observer->copy_refused(pointer, nullptr, size, cudaMemcpyDefault);
    return fail(cudaErrorInvalidValue);
  }
  if (const cudaError_t error = capture_error(*stream)) return fail(error);
  const auto work = [=] {
    std::memset(pointer, value, size);
    tell_copy(pointer, nullptr, size);
    if (runtime_observer) runtime_observer->filled(static_cast<char*>(pointer), value, size);
  };
  enqueue_transfer(*stream, work, cudaGraphNodeTypeMemset);
  describe_node(*stream,
                cudaMemsetParams{pointer, size, static_cast<unsigned char>(value), 1, size, 1});
  return cudaSuccess;
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t size) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  if (const cudaError_t error = cudaMemsetAsync(pointer, value, size, nullptr)) return error;
  // Returns before device memory has been filled, but not before pinned memory has.
  if (size == 0 || on_device(classify(pointer, size).kind)) return cudaSuccess;
  return cudaStreamSynchronize(nullptr);
}
