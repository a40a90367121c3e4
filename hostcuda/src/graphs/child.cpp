// Nodes that contain a copy of another graph.
#include <algorithm>

#include "graphs/executable.h"
#include "graphs/graph.h"
#include "runtime/api.h"

namespace hostcuda {

ChildGraph::ChildGraph(const CUgraph_st& original) : graph(copy_of(original)) {
  graph->belongs_to_node = true;
}
ChildGraph::~ChildGraph() { destroy_graph(graph); }

namespace {

// Returns the reason why the graph cannot be in a node.
cudaError_t child_error(cudaGraph_t child) {
  if (!graphs().contains(child)) return fail(cudaErrorInvalidValue);
  if (std::ranges::any_of(child->nodes,
                          [](const auto& one) { return one->conditional != nullptr; }))
    return fail(cudaErrorNotSupported, "a child graph must not have nodes with a condition");
  if (has_memory_nodes(*child))
    return fail(cudaErrorNotSupported, "a child graph must not have memory nodes");
  if (child->in_order().size() != child->nodes.size())
    return fail(cudaErrorInvalidValue, "the child graph has a cycle");
  return cudaSuccess;
}

}  // namespace
}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, std::size_t count,
                                       cudaGraph_t child) {
  HOSTCUDA_API_CALL;
  if (!node || !graphs().contains(graph) || !are_dependencies(*graph, dependencies, count))
    return fail(cudaErrorInvalidValue);
  if (const cudaError_t error = child_error(child)) return error;
  auto copy = std::make_shared<const ChildGraph>(*child);
  *node = graph->add(cudaGraphNodeTypeGraph, nullptr, {dependencies, dependencies + count});
  (*node)->child = std::move(copy);
  return cudaSuccess;
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  HOSTCUDA_API_CALL;
  if (!graph || !graph_of(node) || !node->child) return fail(cudaErrorInvalidValue);
  *graph = node->child->graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  HOSTCUDA_API_CALL;
  CUgraphExec_st::Node* replaced = find_node(exec, node);
  if (!replaced || replaced->type != cudaGraphNodeTypeGraph) return fail(cudaErrorInvalidValue);
  if (const cudaError_t error = child_error(child)) return error;
  ExecutableNodes nodes = executable_nodes(*child);
  if (compare(nodes, replaced->children))
    return fail(cudaErrorGraphExecUpdateFailure, "the graph has other nodes or dependencies");
  keep_identity(nodes, replaced->children);
  replaced->children = std::move(nodes);
  return cudaSuccess;
}
