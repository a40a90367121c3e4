// CUDA graphs, and the capture of streams into them.
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
  // Each after what it depends on; fewer than all if there is a cycle.
  std::vector<CUgraphNode_st*> in_order() const;
};

namespace hostcuda {

// Several streams may take part: one began it, others joined by waiting for an event.
struct Capture {
  CUgraph_st* graph;
  CUstream_st* origin;
  bool valid = true;
  std::vector<CUstream_st*> streams;
};

// The events that the capture recorded can be used anew.
void end_capture_of_events(const Capture* capture);

// Success, or why an operation cannot be appended to the stream: one on the default stream would
// wait for the streams that are being captured.
cudaError_t capture_error(const CUstream_st& stream);

// A call that waits is not possible in a stream, or in any, that is captured; it spoils the
// capture.
cudaError_t refuse_waiting(CUstream_st& stream);
cudaError_t refuse_waiting_for_all();

}  // namespace hostcuda

#endif
