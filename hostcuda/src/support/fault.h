// Faults: reports SIGSEGV, SIGBUS and SIGFPE in a sentence before the process dies of them.
#ifndef HOSTCUDA_SRC_SUPPORT_FAULT_H
#define HOSTCUDA_SRC_SUPPORT_FAULT_H

#include <cstddef>

namespace hostcuda {

// Gives the calling operating-system thread a separate signal stack (an overflowed stack cannot
// run a handler) and installs the handler once.
void prepare_thread_for_faults();

struct Fault {
  const char* address;
  bool in_kernel;
};

// Functions that write the text for a fault and return true, or return false. They run in the
// signal handler, so they must not allocate memory or take a lock.
using FaultText = bool (*)(const Fault& fault, char* text, std::size_t size);

// Sets the function that names the kernel and thread that this operating-system thread runs.
void name_fault_culprits_with(FaultText culprit);

// Adds a function that describes the address. Causes are tried in the order of adding them.
void name_fault_causes_with(FaultText cause);

// "thread ... of kernel ..." from the first of these functions that knows; otherwise "host code".
void name_culprit(char* text, std::size_t size);

// The address at which the signal with this handler context arrived.
const void* interrupted_code(const void* context);

// Called before the process ends abnormally with a message: a tool can save its data.
void call_before_death(void (*function)());
void before_death();
// The same, with a final finding. It allocates memory, perhaps in a signal handler, which is
// acceptable because the message has been written by then.
void keep_for_death(const char* kind, const char* what, const char* place);

}  // namespace hostcuda

#endif
