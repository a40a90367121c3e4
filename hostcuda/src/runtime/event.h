// What other parts of the runtime need to know about events.
#ifndef HOSTCUDA_SRC_RUNTIME_EVENT_H
#define HOSTCUDA_SRC_RUNTIME_EVENT_H

#include <memory>

#include "hostcuda/runtime_api.h"
#include "interprocess/shared_pages.h"

namespace hostcuda {

// Returns null if the event does not exist or is not for several processes.
const SharedRecordings* recordings_of(cudaEvent_t event);
// Makes an event of another process known to this one.
cudaEvent_t new_event(std::shared_ptr<SharedRecordings> recordings);

}  // namespace hostcuda

#endif
