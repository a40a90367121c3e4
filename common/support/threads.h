// Can as many threads be started as will be needed?
#pragma once

namespace nbody {

// Throws runtime_error if not; the calling one is one of them. libgomp would end the process on the
// spot, and with OpenBLAS in it, a process without enough address space would then wait for ever.
void require_threads(int count);

}  // namespace nbody
