// Executable graphs.
#include "graphs/executable.h"

#include <algorithm>
#include <map>

#include "runtime/api.h"
#include "runtime/stream.h"

namespace hostcuda {

std::set<const CUgraphExec_st*>& executables() {
  static auto* set = new std::set<const CUgraphExec_st*>;
  return *set;
}

namespace {

bool is_acyclic(const CUgraph_st& graph) {
  return graph.in_order().size() == graph.nodes.size() &&
         std::ranges::all_of(graph.nodes, [](const auto& node) {
           return !node->child || is_acyclic(*node->child->graph);
         });
}

cudaError_t make_executable(CUgraphExec_st& exec, const CUgraph_st& graph) {
  exec = {};
  if (!has_valid_bodies(graph))
    return fail(cudaErrorNotSupported,
                "a graph of a node with a condition must not have host or memory nodes");
  exec.handles = graph.handles;
  exec.values = std::make_shared<const ConditionValues>(new_values(graph));
  for (const CUgraphNode_st* node : graph.in_order()) {
    CUgraphExec_st::Node copy{node->type, work_of(*node), {}};
    if (node->type == cudaGraphNodeTypeMemAlloc) exec.allocated.push_back(node->memory);
    if (node->type == cudaGraphNodeTypeMemFree) exec.freed.push_back(node->memory);
    for (const CUgraphNode_st* one : node->dependencies)
      copy.dependencies.push_back(exec.numbers.at(one));
    exec.numbers[node] = exec.nodes.size();
    exec.nodes.push_back(std::move(copy));
  }
  return is_acyclic(graph) ? cudaSuccess : fail(cudaErrorInvalidValue, "the graph has a cycle");
}

// Returns work that selects the values of the graph's handles first.
std::function<void()> with_values(const CUgraphExec_st& exec, std::function<void()> work) {
  if (exec.values->empty()) return work;
  return [values = exec.values, work = std::move(work)] {
    select_values(*values);
    work();
  };
}

// The work of a node in the next launch. A disabled node still orders the nodes around it.
std::function<void()> work_of(const CUgraphExec_st& exec, const CUgraphExec_st::Node& node) {
  if (node.is_enabled) return with_values(exec, node.work);
  return [] {};
}

std::function<void()> begin_of(const CUgraphExec_st& exec) {
  return with_values(exec, set_default_values(exec.handles));
}

// Assigns each node to a branch. A node continues the branch of one of its dependencies if no other
// node continues that branch; otherwise it begins a new branch.
void divide_into_branches(CUgraphExec_st& exec) {
  if (!runtime_observer) return;
  std::map<unsigned, std::size_t> ends;  // the last node of each branch
  for (std::size_t i = 0; i < exec.nodes.size(); ++i) {
    CUgraphExec_st::Node& node = exec.nodes[i];
    const auto free = std::ranges::find_if(
        node.dependencies, [&](std::size_t one) { return ends.at(exec.nodes[one].branch) == one; });
    node.branch =
        free == node.dependencies.end() ? number_of_new_stream() : exec.nodes[*free].branch;
    ends[node.branch] = i;
  }
}

}  // namespace
}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  HOSTCUDA_API_CALL;
  if (!exec || !graphs().contains(graph)) return fail(cudaErrorInvalidValue);
  if (has_memory_nodes(*graph) && !graph->instance.expired())
    return fail(cudaErrorNotSupported,
                "a graph with memory nodes can have only one executable at a time");
  auto made = std::make_unique<CUgraphExec_st>();
  if (const cudaError_t error = make_executable(*made, *graph)) return error;
  made->instance = std::make_shared<int>();
  graph->instance = made->instance;
  made->frees_before_launch = flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
  divide_into_branches(*made);
  *exec = made.release();
  executables().insert(*exec);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* information) {
  HOSTCUDA_API_CALL;
  if (!executables().contains(exec) || !graphs().contains(graph))
    return fail(cudaErrorInvalidValue);
  CUgraphExec_st updated;
  if (const cudaError_t error = make_executable(updated, *graph)) return error;
  cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
  if (updated.nodes.size() != exec->nodes.size()) result = cudaGraphExecUpdateErrorTopologyChanged;
  for (std::size_t i = 0; !result && i < updated.nodes.size(); ++i) {
    if (updated.nodes[i].dependencies != exec->nodes[i].dependencies)
      result = cudaGraphExecUpdateErrorTopologyChanged;
    else if (updated.nodes[i].type != exec->nodes[i].type)
      result = cudaGraphExecUpdateErrorNodeTypeChanged;
  }
  if (information) *information = {result, nullptr, nullptr};
  if (result) return fail(cudaErrorGraphExecUpdateFailure);
  for (std::size_t i = 0; i < updated.nodes.size(); ++i) {
    updated.nodes[i].branch = exec->nodes[i].branch;
    updated.nodes[i].is_enabled = exec->nodes[i].is_enabled;
  }
  updated.numbers = exec->numbers;  // of the nodes of the graph that was instantiated
  updated.last = exec->last;
  updated.frees_before_launch = exec->frees_before_launch;
  updated.instance = exec->instance;
  *exec = std::move(updated);
  return cudaSuccess;
}

// Appends to the stream an operation that prepares the launch, then the graph's nodes, then another
// empty operation.
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  HOSTCUDA_API_CALL_ON(handle);
  if (!executables().contains(exec)) return fail(cudaErrorInvalidValue);
  if (const cudaError_t error = capture_error(*stream)) return fail(error);
  if (stream->capture) {
    if (!exec->allocated.empty() || !exec->freed.empty())
      return fail(cudaErrorNotSupported, "a child graph must not have memory nodes");
    Works works{begin_of(*exec)};
    for (const auto& node : exec->nodes) works.push_back(work_of(*exec, node));
    enqueue_graph(*stream, works);
    return cudaSuccess;
  }
  if (const cudaError_t error =
          begin_launch(exec->allocated, exec->freed, exec->frees_before_launch))
    return error;
  if (exec->last) stream->awaited.push_back(exec->last);
  const OperationPointer begin = enqueue(*stream, begin_of(*exec));
  std::vector<OperationPointer> operations;
  for (const auto& node : exec->nodes) {
    auto operation = std::make_shared<Operation>();
    operation->work = work_of(*exec, node);
    depend(*operation, begin);
    for (const std::size_t one : node.dependencies) depend(*operation, operations[one]);
    append_to_clock(*operation, node.branch);
    operation->of_graph = true;
    operations.push_back(operation);
    stream->awaited.push_back(operation);
  }
  exec->last = enqueue(*stream, [] {});
  return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t handle) {
  HOSTCUDA_API_CALL;
  if (!executables().contains(exec) || !find_stream(handle)) return fail(cudaErrorInvalidValue);
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  HOSTCUDA_API_CALL;
  if (!executables().erase(exec)) return fail(cudaErrorInvalidValue);
  delete exec;
  return cudaSuccess;
}
