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
  // Nodes after their dependencies; fewer than all if there is a cycle.
  std::vector<CUgraphNode_st*> in_order() const;
};

namespace hostcuda {

// Several streams may take part: one started it, others joined by waiting for an event.
struct Capture {
  CUgraph_st* graph;
  CUstream_st* origin;
  bool valid = true;
  std::vector<CUstream_st*> streams;
};

// Makes the events recorded in the capture usable again.
void end_capture_of_events(const Capture* capture);

// Returns cudaSuccess, or the reason why no operation can be appended to the stream: on the default
// stream, it would wait for the captured streams.
cudaError_t capture_error(const CUstream_st& stream);

// A call that waits is not allowed on a captured stream, or during any capture; it invalidates the
// capture.
cudaError_t refuse_waiting(CUstream_st& stream);
cudaError_t refuse_waiting_for_all();

}  // namespace hostcuda

#endif
