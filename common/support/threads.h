// Checks that the operating system can start as many threads as a program will need.
#pragma once

namespace nbody {

// Throws runtime_error if `count` threads, including the calling one, cannot start. Without this
// check, libgomp would end the process, and OpenBLAS would wait forever if there were too little
// address space for its threads.
void require_threads(int count);

}  // namespace nbody
