// Describes the cause of a SIGSEGV, SIGBUS or SIGFPE in a sentence before the signal ends the
// process.
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

// A function that writes a text about the fault to `text` and returns true, or returns false if it
// knows nothing about the fault. The function runs in a signal handler, so it must not allocate
// memory or take a lock.
using FaultText = bool (*)(const Fault& fault, char* text, std::size_t size);

// Sets the function that describes the kernel and the emulated thread in which a fault occurs.
void name_fault_culprits_with(FaultText culprit);

// Adds a function that describes the address of a fault. Functions added earlier are tried first.
void name_fault_causes_with(FaultText cause);

// Writes "thread ... of kernel ..." if the culprit function knows the thread, otherwise "host
// code".
void name_culprit(char* text, std::size_t size);

// Returns the address of the code that a signal interrupted; `context` is the handler's argument.
const void* interrupted_code(const void* context);

// Writes what the program has printed so far, which a pipe would lose at an abnormal end. May be
// called in a signal handler: if another thread is printing, the function writes nothing.
void flush_output();

// Sets a function that is called before the process ends abnormally, so that a tool can save its
// data.
void call_before_death(void (*function)());
void before_death();
// The function may wait forever for a lock that the interrupted code holds, so an alarm ends the
// process.
constexpr unsigned kSecondsToDie = 30;
// Stores a last finding. May be called in a signal handler, where allocating memory can fail.
// Then only this finding is lost, because the message has already been written.
void keep_for_death(const char* kind, const char* what, const char* place);

}  // namespace hostcuda

#endif
