// Events. Recording an event appends an operation to a stream, and other streams can wait for this
// operation.
#include <algorithm>
#include <chrono>
#include <set>
#include <string>

#include "runtime/api.h"
#include "runtime/device.h"
#include "runtime/stream.h"

struct CUevent_st {
  int device;
  bool timed;
  hostcuda::OperationPointer recorded = nullptr;   // null before the first cudaEventRecord
  std::shared_ptr<double> milliseconds = nullptr;  // written when the operation runs
  // The capture, if the event was recorded in a captured stream, and the nodes that precede the
  // event.
  hostcuda::Capture* capture = nullptr;
  std::vector<CUgraphNode_st*> captured = {};
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

// Makes the stream take part in the event's capture from now on.
cudaError_t wait_in_capture(CUstream_st& stream, const CUevent_st& event) {
  if (stream.capture && stream.capture != event.capture) return fail(cudaErrorStreamCaptureMerge);
  if (is_default(stream)) return fail(cudaErrorStreamCaptureImplicit);
  if (!stream.capture) {
    stream.capture = event.capture;
    stream.capture->streams.push_back(&stream);
    stream.captured.clear();
  }
  for (CUgraphNode_st* node : event.captured)
    if (std::ranges::find(stream.captured, node) == stream.captured.end())
      stream.captured.push_back(node);
  return cudaSuccess;
}

// Returns the reason why the event has no time stamp, or "" if it has one.
std::string reason_against_timing(cudaEvent_t event) {
  if (!living(event)) return "does not exist";
  if (!event->timed) return "was created with cudaEventDisableTiming";
  return event->recorded ? "" : "was never recorded: cudaEventRecord is missing";
}

}  // namespace

void hostcuda::end_capture_of_events(const Capture* capture) {
  for (CUevent_st* event : events())
    if (event->capture == capture) event->capture = nullptr;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  HOSTCUDA_IN_KERNEL(create_event(event, flags));
  HOSTCUDA_API_CALL;
  if (!event) return fail(cudaErrorInvalidValue);
  *event = new CUevent_st{current_device(), !(flags & cudaEventDisableTiming)};
  events().insert(*event);
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  HOSTCUDA_IN_KERNEL(destroy_event(event));
  HOSTCUDA_API_CALL;
  if (!living(event)) return fail(cudaErrorInvalidResourceHandle);
  events().erase(event);
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  HOSTCUDA_IN_KERNEL(record(event, handle));
  HOSTCUDA_API_CALL_ON(handle);
  if (!living(event) || stream->device != event->device)
    return fail(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = capture_error(*stream)) return fail(error);
  event->capture = stream->capture;
  event->captured = stream->captured;
  if (stream->capture) return cudaSuccess;
  // Each recording needs a new time stamp, because the previous recording may still be queued.
  auto milliseconds = std::make_shared<double>(0);
  event->milliseconds = milliseconds;
  event->recorded = enqueue(*stream, [=] { *milliseconds = now_in_milliseconds(); });
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  HOSTCUDA_API_CALL;
  if (!living(event)) return fail(cudaErrorInvalidResourceHandle);
  if (event->capture) return fail(cudaErrorCapturedEvent);
  host_waits();
  wait_for(event->recorded);
  return result_of_waiting();
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  HOSTCUDA_API_CALL;
  if (!living(event)) return fail(cudaErrorInvalidResourceHandle);
  if (event->capture) return fail(cudaErrorCapturedEvent);
  return poll(event->recorded) ? cudaSuccess : cudaErrorNotReady;  // not an error: not recorded
}

// Returns the time between the moments at which the two operations ran. Under HOSTCUDA_STREAMS=lazy
// an operation runs only when something waits for it.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  HOSTCUDA_API_CALL;
  if (!milliseconds) return fail(cudaErrorInvalidValue);
  for (cudaEvent_t event : {start, end})
    if (const std::string what = reason_against_timing(event); !what.empty())
      return fail(cudaErrorInvalidResourceHandle,
                  std::string(event == start ? "the first" : "the second") + " event " + what);
  if (!start->recorded->done || !end->recorded->done) return fail(cudaErrorNotReady);
  if (runtime_observer && !host_relies_on(*end->recorded)) runtime_observer->asked_too_early();
  if (runtime_observer) runtime_observer->has_other_results();
  *milliseconds = static_cast<float>(*end->milliseconds - *start->milliseconds);
  return cudaSuccess;
}

// Makes the stream's next operation wait for the event's last recording. Waiting for an event that
// was never recorded has no effect.
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  HOSTCUDA_IN_KERNEL(wait(handle, event));
  HOSTCUDA_API_CALL_ON(handle);
  if (!living(event)) return fail(cudaErrorInvalidResourceHandle);
  if (event->capture) return wait_in_capture(*stream, *event);
  if (stream->capture) return fail(cudaErrorStreamCaptureIsolation);
  if (event->recorded) stream->awaited.push_back(event->recorded);
  return cudaSuccess;
}
