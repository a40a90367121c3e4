// Finds kernels that hang: a thread that runs for very long without a barrier or its end.
#ifndef HOSTCUDA_SRC_EXECUTION_WATCHDOG_H
#define HOSTCUDA_SRC_EXECUTION_WATCHDOG_H

#include <csignal>

namespace hostcuda {

// Watches the blocks that the calling operating-system thread runs. After HOSTCUDA_WATCHDOG seconds
// of processor time the process ends, naming the kernel, the thread and its line.
void watch_for_hangs();

// Set when a watched thread hangs: the observer then calls report_hang with the thread's
// place.
extern volatile std::sig_atomic_t hang_is_to_be_reported;
[[noreturn]] void report_hang(const char* place);

}  // namespace hostcuda

#endif
