// Streams as a graph of operations: what must have run before what.
#ifndef HOSTCUDA_SRC_RUNTIME_STREAM_H
#define HOSTCUDA_SRC_RUNTIME_STREAM_H

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda_runtime.h"
#include "runtime/graph.h"
#include "support/observer.h"
#include "support/source_line.h"

namespace hostcuda {

// A copy, a kernel, a host function or an event's time stamp. It runs once, after everything that
// it depends on.
struct Operation {
  std::function<void()> work;
  std::vector<std::shared_ptr<Operation>> dependencies;
  bool done = false;
  Clock clock;  // what comes before, itself included; kept for a tool that watches
  unsigned stream = 0;
  const char* function = "";  // that appended it
  CodePlace place;
};
using OperationPointer = std::shared_ptr<Operation>;

// Appends work to a stream. It runs at once (eager), when something synchronises with it (lazy) or
// at a random time in between (random). Never null.
// In a stream that is captured it becomes a node of this type instead, and counts as done.
OperationPointer enqueue(CUstream_st& stream, std::function<void()> work,
                         cudaGraphNodeType type = cudaGraphNodeTypeKernel);

bool is_default(const CUstream_st& stream);

// The operation comes after the earlier one, which may be null.
void depend(Operation& operation, const OperationPointer& earlier);
// Tells a tool that watches whose operation it is, once all that it depends on is known.
void append_to_clock(Operation& operation, const CUstream_st& stream);

// Runs the operation and everything that it depends on, and nothing else.
void complete(const OperationPointer& operation);

// The same for host code, which from now on may rely on it.
void wait_for(const OperationPointer& operation);
void host_waits();                                // tells a tool that watches
bool host_relies_on(const Operation& operation);  // may rely on it
const Clock& host_clock();

// The one that is being carried out; null if none is.
const Operation* running_operation();

// The lock of ApiCall for what host code does between its calls. None while another host thread's
// operation runs: that may wait for what this one is about to do.
std::unique_lock<std::recursive_mutex> lock_between_operations();

// A query that finds work pending completes it now and then: a loop that polls must end.
bool poll(const OperationPointer& operation);

// The stream behind a handle; for null, the current device's default stream. Null if no such stream
// exists (any more).
CUstream_st* find_stream(cudaStream_t handle);

// Waits for all streams of a device.
void synchronize_device(int device);

unsigned number_of_new_stream();

}  // namespace hostcuda

// HOSTCUDA_API_CALL for a function that is given a stream: `stream` is the one behind the handle.
#define HOSTCUDA_API_CALL_ON(handle)                           \
  HOSTCUDA_API_CALL;                                           \
  CUstream_st* const stream = ::hostcuda::find_stream(handle); \
  if (!stream) return ::hostcuda::fail(cudaErrorInvalidResourceHandle)

struct CUstream_st {
  unsigned number = hostcuda::number_of_new_stream();
  int device = 0;
  bool with_default = true;  // ordered with the default stream (cudaStreamNonBlocking clears it)
  hostcuda::OperationPointer last;
  // What cudaStreamWaitEvent makes the next operation wait for.
  std::vector<hostcuda::OperationPointer> awaited;
  hostcuda::Capture* capture = nullptr;   // that it takes part in
  std::vector<CUgraphNode_st*> captured;  // what its next node depends on
};

#endif
