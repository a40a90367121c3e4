// Messages about errors in a kernel. The messages name the kernel, block, source lines and threads.
#ifndef HOSTCUDA_SRC_EXECUTION_REPORT_H
#define HOSTCUDA_SRC_EXECUTION_REPORT_H

#include <string>

#include "execution/block_state.h"
#include "records/finding.h"

namespace hostcuda {

// Adds the launch and the block to a finding.
void name_block(Finding& finding, const BlockState& block);

// These functions end the process.
[[noreturn]] void report_outside_kernel(const char* what, const char* file, int line);
// `ended_blocks` blocks of the gang have finished; the other blocks cannot continue either.
[[noreturn]] void report_deadlock(const BlockState& block, std::size_t ended_blocks);
[[noreturn]] void report_no_gang(const BlockState& block, Scope scope);
[[noreturn]] void report_second_arrival(const BlockState& block, Scope scope);
[[noreturn]] void report_bad_mapping(const BlockState& block, const char* what);
[[noreturn]] void report_not_shared(const BlockState& block, const char* what);
[[noreturn]] void report_cluster_dims(const BlockState& block, const dim3& wanted);
// Used if a kernel calls an API function that only host code may call. `code` is the address of the
// call.
[[noreturn]] void report_api_call(const BlockState& block, const char* function, const void* code);
[[noreturn]] void report_launch_bounds(const BlockState& block, unsigned allowed);
// Reports a primitive that was compiled for blocks of `threads` threads but runs in a block of
// another size.
[[noreturn]] void report_block_size(const BlockState& block, const char* what, unsigned threads);
// The first function reports that a block has more static shared memory than ptxas accepts; the
// second, that it has more static and dynamic shared memory than the launch allows.
[[noreturn]] void report_too_much_shared(const BlockState& block, const char* variable);
[[noreturn]] void report_too_much_shared_in_all(const BlockState& block, const char* variable,
                                                std::size_t static_bytes);

// These functions return if HOSTCUDA_DIVERGENCE=warn.
void report_divergence(const BlockState& block);
void report_foreign_mask(const BlockState& block);  // the mask leaves out the current lane

// Warns, once per barrier, that some threads have returned while others wait at the barrier. From
// sm_70 on the hardware counts only threads that have not exited, so this is not an error, but it
// is rarely intended.
void report_early_exit(const BlockState& block, const Thread& waiting);

// Warns, once per source line, that a lane reads from a lane that takes no part in the call.
void report_shuffle_from_absent_lane(const BlockState& block, const Thread& thread,
                                     unsigned source);

// Reports a failed assertion with the same message as CUDA.
void report_assertion(const BlockState& block, const char* expression, const char* file,
                      unsigned line, const char* function);
// place, size: the texts of x, y and layer.
void report_outside_surface(const BlockState& block, const std::string& where,
                            const std::string& place, const std::string& size);
void report_trap(const BlockState& block, const char* file, int line);

}  // namespace hostcuda

#endif
