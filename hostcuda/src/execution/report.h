// Messages about errors of a kernel: kernel, block, source lines and threads.
#ifndef HOSTCUDA_SRC_EXECUTION_REPORT_H
#define HOSTCUDA_SRC_EXECUTION_REPORT_H

#include "execution/block_state.h"
#include "support/finding.h"

namespace hostcuda {

// Adds the launch and the block to a finding.
void name_block(Finding& finding, const BlockState& block);

// These end the process.
[[noreturn]] void report_outside_kernel(const char* what, const char* file, int line);
// The gang's other blocks cannot continue either; `ended_blocks` have finished.
[[noreturn]] void report_deadlock(const BlockState& block, std::size_t ended_blocks);
[[noreturn]] void report_no_gang(const BlockState& block, Scope scope);
[[noreturn]] void report_second_arrival(const BlockState& block, Scope scope);
[[noreturn]] void report_bad_mapping(const BlockState& block, const char* what);
[[noreturn]] void report_cluster_dims(const BlockState& block, const dim3& wanted);
// A kernel calls an API function or launches a kernel. `code` is the address of the call.
[[noreturn]] void report_api_call(const BlockState& block, const char* function, const void* code);
[[noreturn]] void report_launch_bounds(const BlockState& block, unsigned allowed);
// A primitive for blocks of `threads` threads runs in a block of another size.
[[noreturn]] void report_block_size(const BlockState& block, const char* what, unsigned threads);
// More static shared memory than ptxas accepts, or more in total than the kernel may have.
[[noreturn]] void report_too_much_shared(const BlockState& block, const char* variable);
[[noreturn]] void report_too_much_shared_in_all(const BlockState& block, const char* variable,
                                                std::size_t static_bytes);

// These return with HOSTCUDA_DIVERGENCE=warn.
void report_divergence(const BlockState& block);
void report_foreign_mask(const BlockState& block);  // the current lane is not in its mask

// Some threads returned before a barrier at which others wait: one warning per barrier. Since sm_70
// the hardware counts only threads that have not exited, so this is not an error, but it is rarely
// intended.
void report_early_exit(const BlockState& block, const Thread& waiting);

// A value is read from a lane that does not take part in the call: one warning per source line.
void report_shuffle_from_absent_lane(const BlockState& block, const Thread& thread,
                                     unsigned source);

// In CUDA's words.
void report_assertion(const BlockState& block, const char* expression, const char* file,
                      unsigned line, const char* function);
void report_trap(const BlockState& block, const char* file, int line);

}  // namespace hostcuda

#endif
