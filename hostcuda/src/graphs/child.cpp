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

// The nodes on which each node depends, by their numbers.
std::vector<std::set<std::size_t>> edges_of(const CUgraph_st& graph) {
  std::map<const CUgraphNode_st*, std::size_t> numbers;
  for (const auto& node : graph.nodes) numbers.emplace(node.get(), numbers.size());
  std::vector<std::set<std::size_t>> edges;
  for (const auto& node : graph.nodes) {
    edges.emplace_back();
    for (const auto* one : node->dependencies) edges.back().insert(numbers.at(one));
  }
  return edges;
}

bool have_same_topology(const CUgraph_st& a, const CUgraph_st& b) {
  const auto same_node = [](const auto& one, const auto& other) {
    return one->type == other->type && !one->child == !other->child &&
           (!one->child || have_same_topology(*one->child->graph, *other->child->graph));
  };
  return std::ranges::equal(a.nodes, b.nodes, same_node) && edges_of(a) == edges_of(b);
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
  if (!executables().contains(exec) || !exec->numbers.contains(node) || !graph_of(node) ||
      !node->child)
    return fail(cudaErrorInvalidValue);
  if (const cudaError_t error = child_error(child)) return error;
  if (!have_same_topology(*node->child->graph, *child))
    return fail(cudaErrorGraphExecUpdateFailure, "the graph has other nodes or dependencies");
  exec->nodes[exec->numbers.at(node)].work = [works = works_of(*child)] { run_all(works); };
  return cudaSuccess;
}
