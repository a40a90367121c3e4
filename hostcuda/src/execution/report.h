// Messages about what a kernel did wrong: kernel, block, source lines and threads.
#ifndef HOSTCUDA_SRC_EXECUTION_REPORT_H
#define HOSTCUDA_SRC_EXECUTION_REPORT_H

#include "execution/block_state.h"

namespace hostcuda {

// A call that only a kernel may make, made by host code.
[[noreturn]] void report_outside_kernel(const char* what, const char* file, int line);

// Threads of one block wait at different barriers. Returns with HOSTCUDA_DIVERGENCE=warn.
void report_divergence(const BlockState& block);

// The current lane calls a warp function with a mask that leaves this lane out. Returns with
// HOSTCUDA_DIVERGENCE=warn.
void report_foreign_mask(const BlockState& block);

// No thread of the block can go on.
[[noreturn]] void report_deadlock(const BlockState& block);

// Some threads returned before a barrier at which others wait: one warning per barrier. Since sm_70
// the hardware counts only threads that have not exited, so this is not an error; it is seldom
// intended.
void report_early_exit(const BlockState& block, const char* file, int line);

// A value is read from a lane that takes no part in the call: one warning per source line.
void report_shuffle_from_absent_lane(const BlockState& block, const Thread& thread,
                                     unsigned source);

// More static shared memory than ptxas accepts.
[[noreturn]] void report_too_much_shared(const BlockState& block, const char* variable);

}  // namespace hostcuda

#endif
