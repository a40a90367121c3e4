// hostcuda: what kernels need to launch kernels (dynamic parallelism).
//
// A kernel launches another with <<<>>>. The child grid begins when the block that launched it has
// ended (in a traced program, when the parent grid has), and the parent grid counts as complete
// only when all its children are. Children of one stream run in order. Kernels may also create
// streams and events, and copy, fill, allocate and free memory; such functions of runtime_api.h
// behave differently in a kernel. A stream exists as long as its grid, and an event orders only the
// operations of its block.
#pragma once

#include "../runtime_api.h"

// A launch into this stream waits for nothing.
#define cudaStreamFireAndForget (reinterpret_cast<cudaStream_t>(4))
// A launch into this stream begins after the grid and all its other children, in order.
#define cudaStreamTailLaunch (reinterpret_cast<cudaStream_t>(3))
