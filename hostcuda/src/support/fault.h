// Describes SIGSEGV, SIGBUS and SIGFPE in a sentence before the process dies of the signal.
#ifndef HOSTCUDA_SRC_SUPPORT_FAULT_H
#define HOSTCUDA_SRC_SUPPORT_FAULT_H

#include <cstddef>

namespace hostcuda {

// Gives the calling operating-system thread a separate signal stack, because a handler cannot run
// on a stack that has overflowed. Installs the handler once.
void prepare_thread_for_faults();

struct Fault {
  const char* address;
  bool in_kernel;
};

// A function that either writes the text for a fault and returns true, or returns false. The
// function runs in a signal handler, so it must not allocate memory or take a lock.
using FaultText = bool (*)(const Fault& fault, char* text, std::size_t size);

// Sets the function that names the kernel and the emulated thread that run when a fault occurs.
void name_fault_culprits_with(FaultText culprit);

// Adds a function that describes an address. The functions are tried in the order of addition.
void name_fault_causes_with(FaultText cause);

// Writes "thread ... of kernel ..." if the culprit function knows the thread, otherwise "host
// code".
void name_culprit(char* text, std::size_t size);

// Returns the address of the code that the signal with this handler context interrupted.
const void* interrupted_code(const void* context);

// Sets a function that is called before the process ends abnormally, so that a tool can save its
// data.
void call_before_death(void (*function)());
void before_death();
// Stores a last finding. Allocates memory, perhaps in a signal handler, which is acceptable because
// the message has already been written.
void keep_for_death(const char* kind, const char* what, const char* place);

}  // namespace hostcuda

#endif
