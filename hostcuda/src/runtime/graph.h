// CUDA graphs, and the capture of streams that creates them.
#ifndef HOSTCUDA_SRC_RUNTIME_GRAPH_H
#define HOSTCUDA_SRC_RUNTIME_GRAPH_H

#include <functional>
#include <memory>
#include <vector>

#include "hostcuda/graph_api.h"

struct CUgraphNode_st {
  cudaGraphNodeType type;
  std::function<void()> work;
  std::vector<CUgraphNode_st*> dependencies;
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;

  CUgraphNode_st* add(cudaGraphNodeType type, std::function<void()> work,
                      std::vector<CUgraphNode_st*> dependencies);
  // Returns each node after its dependencies. If there is a cycle, some nodes are missing.
  std::vector<CUgraphNode_st*> in_order() const;
};

namespace hostcuda {

// A capture of operations. One stream started the capture; others may have joined it by waiting for
// an event.
struct Capture {
  CUgraph_st* graph;
  CUstream_st* origin;
  bool valid = true;
  std::vector<CUstream_st*> streams;
};

// Makes events that were recorded in the capture usable again outside it.
void end_capture_of_events(const Capture* capture);

// Returns cudaSuccess, or the reason why no operation may be appended to the stream. During a
// capture, no operation may be appended to the default stream, because such an operation would wait
// for the captured streams.
cudaError_t capture_error(const CUstream_st& stream);

// The first function rejects a call that waits for a captured stream; the second function rejects a
// call that waits for all streams while any capture is active. Such a call invalidates the capture.
cudaError_t refuse_waiting(CUstream_st& stream);
cudaError_t refuse_waiting_for_all();

}  // namespace hostcuda

#endif
