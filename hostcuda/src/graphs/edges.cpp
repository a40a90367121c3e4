// The dependencies between the nodes of a graph.
#include <algorithm>

#include "graphs/graph.h"
#include "runtime/api.h"

bool CUgraph_st::contains(const CUgraphNode_st* node) const {
  return std::ranges::any_of(nodes, [&](const auto& one) { return one.get() == node; });
}

namespace hostcuda {

CUgraph_st* graph_of(const CUgraphNode_st* node) {
  for (const CUgraph_st* graph : graphs())
    if (graph->contains(node)) return const_cast<CUgraph_st*>(graph);
  return nullptr;
}

bool are_dependencies(const CUgraph_st& graph, const cudaGraphNode_t* nodes, std::size_t count) {
  if (count && !nodes) return false;
  const std::set<cudaGraphNode_t> different(nodes, nodes + count);
  return different.size() == count &&
         std::ranges::all_of(different, [&](const auto* node) { return graph.contains(node); });
}

namespace {

bool depends(const CUgraphNode_st& node, const CUgraphNode_st* one) {
  return std::ranges::find(node.dependencies, one) != node.dependencies.end();
}

// Calls change(from, to) for each edge until it fails; the edges before stay changed, as on a GPU.
template <class Change>
cudaError_t for_each_edge(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                          std::size_t count, const Change& change) {
  HOSTCUDA_API_CALL;
  if (!graphs().contains(graph) || (count && (!from || !to))) return fail(cudaErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i)
    if (!graph->contains(from[i]) || !graph->contains(to[i]) || !change(from[i], *to[i]))
      return fail(cudaErrorInvalidValue);
  return cudaSuccess;
}

}  // namespace
}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, std::size_t count) {
  return for_each_edge(graph, from, to, count, [](cudaGraphNode_t one, CUgraphNode_st& node) {
    if (one == &node || depends(node, one)) return false;
    node.dependencies.push_back(one);
    return true;
  });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, std::size_t count) {
  return for_each_edge(graph, from, to, count, [&](cudaGraphNode_t one, CUgraphNode_st& node) {
    return !has_memory_nodes(*graph) && std::erase(node.dependencies, one) != 0;
  });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  HOSTCUDA_API_CALL;
  CUgraph_st* graph = graph_of(node);
  if (!graph) return fail(cudaErrorInvalidValue);
  if (has_memory_nodes(*graph))
    return fail(cudaErrorInvalidValue, "a graph with memory nodes keeps its dependencies");
  for (const auto& one : graph->nodes) std::erase(one->dependencies, node);
  std::erase_if(graph->nodes, [&](const auto& one) { return one.get() == node; });
  return cudaSuccess;
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                         std::size_t* count) {
  HOSTCUDA_API_CALL;
  if (!graph_of(node) || !count) return fail(cudaErrorInvalidValue);
  write_list(node->dependencies, dependencies, *count);
  return cudaSuccess;
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents,
                                           std::size_t* count) {
  HOSTCUDA_API_CALL;
  const CUgraph_st* graph = graph_of(node);
  if (!graph || !count) return fail(cudaErrorInvalidValue);
  std::vector<cudaGraphNode_t> found;
  for (const auto& one : graph->nodes)
    if (depends(*one, node)) found.push_back(one.get());
  write_list(found, dependents, *count);
  return cudaSuccess;
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* edges, std::size_t* count) {
  HOSTCUDA_API_CALL;
  if (!graphs().contains(graph) || !count || !from != !to) return fail(cudaErrorInvalidValue);
  std::vector<cudaGraphNode_t> begins, ends;
  for (const auto& node : graph->nodes)
    for (CUgraphNode_st* one : node->dependencies) {
      begins.push_back(one);
      ends.push_back(node.get());
    }
  if (from && edges) std::fill_n(edges, *count, cudaGraphEdgeData{});
  std::size_t room = *count;
  write_list(begins, from, room);
  write_list(ends, to, *count);
  return cudaSuccess;
}
