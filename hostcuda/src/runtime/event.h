// What other parts of the runtime need to know about events.
#ifndef HOSTCUDA_SRC_RUNTIME_EVENT_H
#define HOSTCUDA_SRC_RUNTIME_EVENT_H

#include <functional>
#include <memory>

#include "hostcuda/runtime_api.h"
#include "interprocess/shared_pages.h"
#include "runtime/stream.h"

namespace hostcuda {

// The event's last recording; null if there is none, or no such event.
OperationPointer last_recording(cudaEvent_t event);
// Makes the operation the event's last recording. Returns the work that records the time.
std::function<void()> record_by(cudaEvent_t event, const OperationPointer& operation);

// Returns null if the event does not exist or is not for several processes.
const SharedRecordings* recordings_of(cudaEvent_t event);
// Makes an event of another process known to this one.
cudaEvent_t new_event(std::shared_ptr<SharedRecordings> recordings);

}  // namespace hostcuda

#endif
