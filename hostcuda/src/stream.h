// Streams as a graph of operations: what must have run before what.
#ifndef HOSTCUDA_SRC_STREAM_H
#define HOSTCUDA_SRC_STREAM_H

#include <functional>
#include <memory>
#include <vector>

#include "cuda_runtime.h"

namespace hostcuda {

// A copy, a kernel, a host function or an event's time stamp. It runs once, after all it depends
// on.
struct Operation {
  std::function<void()> work;
  std::vector<std::shared_ptr<Operation>> dependencies;
  bool done = false;
};
using OperationPointer = std::shared_ptr<Operation>;

// Appends work to a stream. It runs at once (eager), when something synchronises with it (lazy) or
// at some time in between (random). Never null.
OperationPointer enqueue(CUstream_st& stream, std::function<void()> work);

// Runs the operation and everything that it depends on, and nothing else.
void complete(const OperationPointer& operation);

// A query that finds work pending completes it now and then: a loop that polls must end.
bool poll(const OperationPointer& operation);

// The stream behind a handle, the current device's default stream for null; null if the handle is
// none of a living stream.
CUstream_st* find_stream(cudaStream_t handle);

}  // namespace hostcuda

struct CUstream_st {
  int device = 0;
  bool with_default = true;  // ordered with the default stream (cudaStreamNonBlocking clears it)
  hostcuda::OperationPointer last;
  std::vector<hostcuda::OperationPointer>
      awaited;  // by cudaStreamWaitEvent, for the next operation
};

#endif
