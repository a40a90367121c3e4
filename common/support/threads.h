// Checks that the operating system can start as many threads as a program will need.
#pragma once

namespace nbody {

// Throws runtime_error if not. The number includes the calling thread. libgomp would end the
// process at once, and OpenBLAS, without enough address space, would then wait forever.
void require_threads(int count);

}  // namespace nbody
