// Checks that the operating system can start as many threads as a program will need.
#pragma once

namespace nbody {

// Throws runtime_error if `count` threads, including the calling thread, cannot run. Without this
// check, libgomp would end the process if a thread could not start, and OpenBLAS would wait forever
// if there were too little address space for its threads.
void require_threads(int count);

}  // namespace nbody
