// Streams, which form a graph of operations and their dependencies.
#ifndef HOSTCUDA_SRC_RUNTIME_STREAM_H
#define HOSTCUDA_SRC_RUNTIME_STREAM_H

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda_runtime.h"
#include "graphs/graph.h"
#include "support/observer.h"
#include "support/source_line.h"

namespace hostcuda {

// A copy, a kernel, a host function or an event's time stamp. An operation runs exactly once, when
// all its dependencies have run.
struct Operation {
  std::function<void()> work;
  std::vector<std::shared_ptr<Operation>> dependencies;
  bool done = false;
  bool was_queried = false;
  Clock clock;  // for an observer: for each stream, how many operations precede this one
  unsigned stream = 0;
  bool of_graph = false;      // a node of a graph
  const char* function = "";  // the API function that appended the operation
  CodePlace place;
};
using OperationPointer = std::shared_ptr<Operation>;

// Appends work to a stream. The work runs at once (eager), when something synchronises with it
// (lazy) or at a random time in between (random). In a captured stream, the work becomes a node of
// type `type` instead, and the returned operation counts as done. Never returns null.
OperationPointer enqueue(CUstream_st& stream, std::function<void()> work,
                         cudaGraphNodeType type = cudaGraphNodeTypeKernel);

bool is_default(const CUstream_st& stream);

// Makes the operation depend on `earlier`, which may be null.
void depend(Operation& operation, const OperationPointer& earlier);
// Records the operation's stream and clock for an observer. Called when all dependencies are known.
// For a node of a graph, `stream` is the number of a branch of the graph (number_of_new_stream).
void append_to_clock(Operation& operation, unsigned stream);

// Runs the operation and its dependencies but no other operation.
void complete(const OperationPointer& operation);

// Completes the operation for host code, which may then rely on the result.
void wait_for(const OperationPointer& operation);
void host_waits();                                // notifies an observer
bool host_relies_on(const Operation& operation);  // true if host code may rely on the result
const Clock& host_clock();

// Returns the running operation, or null if there is none.
const Operation* running_operation();

// Takes the API's lock for memory accesses that host code makes between its API calls, except while
// another host thread runs an operation, because that operation may be waiting for this thread.
std::unique_lock<std::recursive_mutex> lock_between_operations();

// Returns whether the operation is done. Sometimes completes a pending operation first, so that a
// polling loop ends.
bool poll(const OperationPointer& operation);

// Returns the stream that a handle denotes; null denotes the current device's default stream.
// Returns null if no such stream exists.
CUstream_st* find_stream(cudaStream_t handle);

// Waits for all streams of a device.
void synchronize_device(int device);

unsigned number_of_new_stream();

}  // namespace hostcuda

// HOSTCUDA_API_CALL for functions that take a stream. Also declares `stream`, the stream of the
// handle.
#define HOSTCUDA_API_CALL_ON(handle)                           \
  HOSTCUDA_API_CALL;                                           \
  CUstream_st* const stream = ::hostcuda::find_stream(handle); \
  if (!stream) return ::hostcuda::fail(cudaErrorInvalidResourceHandle)

struct CUstream_st {
  unsigned number = hostcuda::number_of_new_stream();
  int device = 0;
  int priority = 0;          // support/limits.h has its range; it does not change the order of work
  bool with_default = true;  // ordered with the default stream; false for cudaStreamNonBlocking
  hostcuda::OperationPointer last;
  // Operations for which the stream's next operation must wait (cudaStreamWaitEvent).
  std::vector<hostcuda::OperationPointer> awaited;
  // The settings of cudaStreamSetAttribute.
  cudaAccessPolicyWindow window = {};
  cudaSynchronizationPolicy waiting = cudaSyncPolicyAuto;
  hostcuda::Capture* capture = nullptr;   // the capture that the stream takes part in
  std::vector<CUgraphNode_st*> captured;  // dependencies of the stream's next node
};

#endif
