// Messages about what a kernel did wrong: kernel, block, source lines and threads.
#ifndef HOSTCUDA_SRC_REPORT_H
#define HOSTCUDA_SRC_REPORT_H

#include "block.h"

namespace hostcuda {

// A call that only a kernel may make, made by host code.
[[noreturn]] void report_outside_kernel(const char* what, const char* file, int line);

// Threads of one block wait at different barriers. Returns with HOSTCUDA_DIVERGENCE=warn.
void report_divergence(const BlockRunner& block);

// A lane calls a warp function with a mask that leaves itself out. Returns likewise.
void report_foreign_mask(const BlockRunner& block);

// Nothing in the block can go on.
[[noreturn]] void report_deadlock(const BlockRunner& block);

// Some threads returned before a barrier that others wait at: once per barrier, a warning. Since
// sm_70 the hardware counts only threads that have not exited, so it is not an error; it is seldom
// meant.
void report_early_exit(const BlockRunner& block, const char* file, int line);

// A value is read from a lane that is not in the call: once per source line, a warning.
void report_shuffle_from_absent_lane(const BlockRunner& block, const Thread& thread,
                                     unsigned source);

// More static shared memory than ptxas accepts.
[[noreturn]] void report_too_much_shared(const BlockRunner& block, const char* variable);

}  // namespace hostcuda

#endif
