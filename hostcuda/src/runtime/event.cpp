// Events: a time stamp is an operation in a stream, so that other streams can wait for it.
#include <chrono>
#include <set>

#include "runtime/api.h"
#include "runtime/device.h"
#include "runtime/stream.h"

struct CUevent_st {
  int device;
  bool timed;
  hostcuda::OperationPointer recorded;   // null before the first cudaEventRecord
  std::shared_ptr<double> milliseconds;  // written when the operation runs
};

using namespace hostcuda;

namespace {

std::set<CUevent_st*>& events() {
  static auto* set = new std::set<CUevent_st*>;
  return *set;
}

bool living(cudaEvent_t event) { return events().contains(event); }

double now_in_milliseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

}  // namespace

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  HOSTCUDA_API_CALL;
  if (!event) return fail(cudaErrorInvalidValue);
  *event = new CUevent_st{current_device(), !(flags & cudaEventDisableTiming), nullptr, nullptr};
  events().insert(*event);
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  HOSTCUDA_API_CALL;
  if (!living(event)) return fail(cudaErrorInvalidResourceHandle);
  events().erase(event);
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  HOSTCUDA_API_CALL;
  CUstream_st* stream = find_stream(handle);
  if (!living(event) || !stream || stream->device != event->device)
    return fail(cudaErrorInvalidResourceHandle);
  // A fresh time stamp for each recording: the previous one may still be queued.
  auto milliseconds = std::make_shared<double>(0);
  event->milliseconds = milliseconds;
  event->recorded = enqueue(*stream, [=] { *milliseconds = now_in_milliseconds(); });
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  HOSTCUDA_API_CALL;
  if (!living(event)) return fail(cudaErrorInvalidResourceHandle);
  complete(event->recorded);
  return result_of_waiting();
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  HOSTCUDA_API_CALL;
  if (!living(event)) return fail(cudaErrorInvalidResourceHandle);
  return poll(event->recorded) ? cudaSuccess : fail(cudaErrorNotReady);
}

// Time between the moments at which the operations ran; under HOSTCUDA_STREAMS=lazy an operation
// runs when something waits for it.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  HOSTCUDA_API_CALL;
  if (!milliseconds) return fail(cudaErrorInvalidValue);
  for (cudaEvent_t event : {start, end})
    if (!living(event) || !event->timed || !event->recorded)
      return fail(cudaErrorInvalidResourceHandle);
  if (!start->recorded->done || !end->recorded->done) return fail(cudaErrorNotReady);
  *milliseconds = static_cast<float>(*end->milliseconds - *start->milliseconds);
  return cudaSuccess;
}

// The next operation of the stream waits for the recording that the event holds now. Waiting for an
// event that was never recorded does nothing.
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  HOSTCUDA_API_CALL;
  CUstream_st* stream = find_stream(handle);
  if (!living(event) || !stream) return fail(cudaErrorInvalidResourceHandle);
  if (event->recorded) stream->awaited.push_back(event->recorded);
  return cudaSuccess;
}
