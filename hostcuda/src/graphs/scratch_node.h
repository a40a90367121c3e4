// New content for a node: another node is made in a separate graph, and its content is taken.
#ifndef HOSTCUDA_SRC_GRAPHS_SCRATCH_NODE_H
#define HOSTCUDA_SRC_GRAPHS_SCRATCH_NODE_H

#include "graphs/graph.h"
#include "runtime/api.h"

namespace hostcuda {

// add: makes the node, add(&node, graph). take: gets the node, before it is destroyed, if its type
// is the right one.
template <class Add, class Take>
cudaError_t with_scratch_node(cudaGraphNodeType type, const Add& add, const Take& take) {
  cudaGraph_t scratch = new_graph();
  cudaGraphNode_t made = nullptr;
  cudaError_t error = add(&made, scratch);
  if (!error && made->type != type)
    error = fail(cudaErrorInvalidValue, "the node has another type");
  if (!error) take(*made);
  destroy_graph(scratch);
  return error;
}

// Replaces what a node of a graph does. It keeps its dependencies.
template <class Add>
cudaError_t replace_content(cudaGraphNode_t node, const Add& add) {
  HOSTCUDA_API_CALL;
  if (!graph_of(node) || node->memory || node->conditional) return fail(cudaErrorInvalidValue);
  return with_scratch_node(node->type, add, [&](const CUgraphNode_st& made) {
    node->work = made.work;
    node->kernel = made.kernel;
    node->child = made.child;
    node->parameters = made.parameters;
  });
}

}  // namespace hostcuda

#endif
