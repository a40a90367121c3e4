// What a memory fault means: turns SIGSEGV into a sentence where hostcuda knows the reason.
#ifndef HOSTCUDA_SRC_FAULT_H
#define HOSTCUDA_SRC_FAULT_H

namespace hostcuda {

// Gives the calling operating-system thread a separate signal stack (an overflowed stack cannot
// run a handler) and installs the handler once.
void prepare_thread_for_faults();

}  // namespace hostcuda

#endif
