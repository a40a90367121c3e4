// Finds kernels that hang: a thread runs for very long and reaches neither a barrier nor its end.
#ifndef HOSTCUDA_SRC_EXECUTION_WATCHDOG_H
#define HOSTCUDA_SRC_EXECUTION_WATCHDOG_H

#include <csignal>

namespace hostcuda {

// Watches the blocks that the calling operating-system thread runs. If a thread hangs for
// HOSTCUDA_WATCHDOG seconds of processor time, reports the kernel, the thread and the thread's
// line, and ends the process.
void watch_for_hangs();

// Set when a watched thread hangs. The observer then calls report_hang with the line that the
// thread has reached.
extern volatile std::sig_atomic_t hang_is_to_be_reported;
[[noreturn]] void report_hang(const char* place);

}  // namespace hostcuda

#endif
