// Events. Recording an event appends an operation to a stream, and other streams can wait for this
// operation.
#include "runtime/event.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>

#include "hostcuda/interprocess/ipc_api.h"
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
  std::shared_ptr<hostcuda::SharedRecordings> shared = nullptr;  // if several processes use it
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

// The work of nodes of an executable graph whose launch is captured. In other launches, the
// operations of the nodes record and await events (cudaGraphLaunch).
void record_now(cudaEvent_t event) {
  const auto operation = std::make_shared<Operation>();
  operation->work = record_by(event, operation);
  complete(operation);
}

cudaError_t add_event_node(cudaStream_t handle, cudaEvent_t event, bool records) {
  HOSTCUDA_API_CALL_ON(handle);
  if (!living(event)) return fail(cudaErrorInvalidResourceHandle);
  if (!stream->capture) return fail(cudaErrorInvalidValue);
  if (const cudaError_t error = capture_error(*stream)) return fail(error);
  if (records)
    enqueue(
        *stream, [=] { record_now(event); }, cudaGraphNodeTypeEventRecord);
  else
    enqueue(
        *stream, [=] { complete(last_recording(event)); }, cudaGraphNodeTypeWaitEvent);
  describe_node(*stream, event);
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

OperationPointer hostcuda::last_recording(cudaEvent_t event) {
  return living(event) ? event->recorded : nullptr;
}

std::function<void()> hostcuda::record_by(cudaEvent_t event, const OperationPointer& operation) {
  if (!living(event)) return [] {};
  // Each recording needs a new time stamp, because the previous recording may still be queued.
  event->milliseconds = std::make_shared<double>(0);
  event->recorded = operation;
  return [milliseconds = event->milliseconds] { *milliseconds = now_in_milliseconds(); };
}

const SharedRecordings* hostcuda::recordings_of(cudaEvent_t event) {
  return living(event) ? event->shared.get() : nullptr;
}

cudaEvent_t hostcuda::new_event(std::shared_ptr<SharedRecordings> recordings) {
  auto* event = new CUevent_st{current_device(), false};
  event->shared = std::move(recordings);
  events().insert(event);
  return event;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  HOSTCUDA_IN_KERNEL(create_event(event, flags));
  HOSTCUDA_API_CALL;
  constexpr unsigned kAllFlags =
      cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if (!event || flags & ~kAllFlags) return fail(cudaErrorInvalidValue);
  if (flags & cudaEventInterprocess) {
    if (!(flags & cudaEventDisableTiming))
      return fail(cudaErrorInvalidValue, "cudaEventInterprocess needs cudaEventDisableTiming");
    std::shared_ptr<SharedRecordings> recordings = SharedRecordings::create();
    if (!recordings) return fail(cudaErrorNotSupported);
    *event = new_event(std::move(recordings));
    return cudaSuccess;
  }
  *event = new CUevent_st{current_device(), !(flags & cudaEventDisableTiming)};
  events().insert(*event);
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  HOSTCUDA_API_CALL_OF_OTHERS;
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

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  HOSTCUDA_API_CALL_OF_OTHERS_ALSO_OF_KERNELS;
  if (flags == cudaEventRecordExternal) return add_event_node(stream, event, true);
  return flags == cudaEventRecordDefault ? cudaEventRecord(event, stream)
                                         : fail(cudaErrorInvalidValue);
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
  // A new time stamp, as in record_by.
  auto milliseconds = std::make_shared<double>(0);
  event->milliseconds = milliseconds;
  const std::uint64_t recording = event->shared ? event->shared->record() : 0;
  event->recorded = enqueue(*stream, [=, shared = event->shared] {
    *milliseconds = now_in_milliseconds();
    if (shared) shared->completed(recording);
  });
  // Another process may wait for it, while this process makes no other call.
  if (event->shared) wait_for(event->recorded);
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  HOSTCUDA_API_CALL;
  if (!living(event)) return fail(cudaErrorInvalidResourceHandle);
  if (event->capture) return fail(cudaErrorCapturedEvent);
  host_waits();
  wait_for(event->recorded);
  if (event->shared) event->shared->wait_for(event->shared->recorded());
  return result_of_waiting();
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  HOSTCUDA_API_CALL;
  if (!living(event)) return fail(cudaErrorInvalidResourceHandle);
  if (event->capture) return fail(cudaErrorCapturedEvent);
  const bool elsewhere = event->shared && !event->shared->is_completed(event->shared->recorded()) &&
                         (!event->recorded || event->recorded->done);
  // Not an error, so it is not recorded.
  return !elsewhere && poll(event->recorded) ? cudaSuccess : cudaErrorNotReady;
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
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned flags) {
  HOSTCUDA_IN_KERNEL(wait(handle, event));
  HOSTCUDA_API_CALL_ON(handle);
  if (!living(event)) return fail(cudaErrorInvalidResourceHandle);
  if (flags == cudaEventWaitExternal) return add_event_node(handle, event, false);
  if (flags != cudaEventWaitDefault) return fail(cudaErrorInvalidValue);
  if (event->capture) return wait_in_capture(*stream, *event);
  if (stream->capture) return fail(cudaErrorStreamCaptureIsolation);
  if (event->recorded) stream->awaited.push_back(event->recorded);
  if (event->shared)  // the last recording may be another process's
    enqueue(*stream, [shared = event->shared, recording = event->shared->recorded()] {
      shared->wait_for(recording);
    });
  return cudaSuccess;
}
