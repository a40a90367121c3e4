// Executable graphs.
#include "graphs/executable.h"

#include <algorithm>
#include <map>

#include "runtime/api.h"
#include "runtime/event.h"
#include "runtime/stream.h"

namespace hostcuda {

std::set<const CUgraphExec_st*>& executables() {
  static auto* set = new std::set<const CUgraphExec_st*>;
  return *set;
}

ExecutableNodes executable_nodes(const CUgraph_st& graph) {
  ExecutableNodes nodes;
  std::map<const CUgraphNode_st*, std::size_t> numbers;
  for (const CUgraphNode_st* node : graph.in_order()) {
    CUgraphExec_st::Node copy{node->type, node, node->child ? [] {} : work_of(*node)};
    if (node->child) copy.children = executable_nodes(*node->child->graph);
    if (const auto* event = std::get_if<cudaEvent_t>(&node->parameters)) copy.event = *event;
    for (const CUgraphNode_st* one : node->dependencies)
      copy.dependencies.push_back(numbers.at(one));
    numbers[node] = nodes.size();
    nodes.push_back(std::move(copy));
  }
  return nodes;
}

namespace {

CUgraphExec_st::Node* find_among(ExecutableNodes& nodes, const CUgraphNode_st* origin) {
  for (CUgraphExec_st::Node& node : nodes) {
    if (node.origin == origin) return &node;
    if (CUgraphExec_st::Node* found = find_among(node.children, origin)) return found;
  }
  return nullptr;
}

}  // namespace

CUgraphExec_st::Node* find_node(cudaGraphExec_t exec, const CUgraphNode_st* origin) {
  return executables().contains(exec) ? find_among(exec->nodes, origin) : nullptr;
}

cudaGraphExecUpdateResult compare(const ExecutableNodes& nodes, const ExecutableNodes& others) {
  if (nodes.size() != others.size()) return cudaGraphExecUpdateErrorTopologyChanged;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].dependencies != others[i].dependencies)
      return cudaGraphExecUpdateErrorTopologyChanged;
    if (nodes[i].type != others[i].type) return cudaGraphExecUpdateErrorNodeTypeChanged;
    if (const auto result = compare(nodes[i].children, others[i].children)) return result;
  }
  return cudaGraphExecUpdateSuccess;
}

void keep_identity(ExecutableNodes& nodes, const ExecutableNodes& replaced) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].origin = replaced[i].origin;
    nodes[i].branch = replaced[i].branch;
    nodes[i].is_enabled = replaced[i].is_enabled;
    keep_identity(nodes[i].children, replaced[i].children);
  }
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
  exec.nodes = executable_nodes(graph);
  for (const auto& node : graph.nodes) {
    if (node->type == cudaGraphNodeTypeMemAlloc) exec.allocated.push_back(node->memory);
    if (node->type == cudaGraphNodeTypeMemFree) exec.freed.push_back(node->memory);
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
std::function<void()> work_of(const CUgraphExec_st::Node& node) {
  if (!node.is_enabled) return [] {};
  if (node.children.empty()) return node.work;
  Works works;
  for (const auto& child : node.children) works.push_back(work_of(child));
  return [works = std::move(works)] { run_all(works); };
}

std::function<void()> work_of(const CUgraphExec_st& exec, const CUgraphExec_st::Node& node) {
  return with_values(exec, work_of(node));
}

std::function<void()> begin_of(const CUgraphExec_st& exec) {
  return with_values(exec, set_default_values(exec.handles));
}

// Lets the operation wait for the last recordings of all events that the node awaits. This comes
// before work_with_events, because an operation must not wait for itself.
void await_events(const CUgraphExec_st::Node& node, Operation& operation) {
  if (node.type == cudaGraphNodeTypeWaitEvent) depend(operation, last_recording(node.event));
  for (const auto& child : node.children) await_events(child, operation);
}

// Returns the node's work in a launch in which the operation runs the node. All events of a child
// graph are recorded when the whole child graph has run, but each has its own time.
std::function<void()> work_with_events(const CUgraphExec_st::Node& node,
                                       const OperationPointer& operation) {
  if (node.type == cudaGraphNodeTypeWaitEvent) return [] {};
  if (node.type == cudaGraphNodeTypeEventRecord) return record_by(node.event, operation);
  if (node.children.empty()) return work_of(node);
  Works works;
  for (const auto& child : node.children) works.push_back(work_with_events(child, operation));
  return [works = std::move(works)] { run_all(works); };
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
  made->flags = flags;
  divide_into_branches(*made);
  *exec = made.release();
  executables().insert(*exec);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  HOSTCUDA_API_CALL;
  if (!parameters) return fail(cudaErrorInvalidValue);
  parameters->errNode_out = nullptr;
  parameters->result_out = cudaGraphInstantiateError;
  const bool uploads = parameters->flags & cudaGraphInstantiateFlagUpload;
  if (!exec || !graphs().contains(graph) || (uploads && !find_stream(parameters->uploadStream)))
    return fail(cudaErrorInvalidValue);
  const cudaError_t error = cudaGraphInstantiate(exec, graph, parameters->flags);
  if (error == cudaSuccess)
    parameters->result_out = cudaGraphInstantiateSuccess;
  else if (error == cudaErrorNotSupported)
    parameters->result_out = cudaGraphInstantiateNodeOperationNotSupported;
  else if (!is_acyclic(*graph))
    parameters->result_out = cudaGraphInstantiateInvalidStructure;
  return error;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* information) {
  HOSTCUDA_API_CALL;
  if (!executables().contains(exec) || !graphs().contains(graph))
    return fail(cudaErrorInvalidValue);
  CUgraphExec_st updated;
  if (const cudaError_t error = make_executable(updated, *graph)) return error;
  const cudaGraphExecUpdateResult result = compare(updated.nodes, exec->nodes);
  if (information) *information = {result, nullptr, nullptr};
  if (result) return fail(cudaErrorGraphExecUpdateFailure);
  keep_identity(updated.nodes, exec->nodes);
  updated.last = exec->last;
  updated.flags = exec->flags;
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
  if (const cudaError_t error = begin_launch(
          exec->allocated, exec->freed, exec->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch))
    return error;
  if (exec->last) stream->awaited.push_back(exec->last);
  const OperationPointer begin = enqueue(*stream, begin_of(*exec));
  std::vector<OperationPointer> operations;
  for (const auto& node : exec->nodes) {
    auto operation = std::make_shared<Operation>();
    depend(*operation, begin);
    for (const std::size_t one : node.dependencies) depend(*operation, operations[one]);
    append_to_clock(*operation, node.branch);
    await_events(node, *operation);
    operation->work = with_values(*exec, work_with_events(node, operation));
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

// Uploading does not affect the executable graph.
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
  HOSTCUDA_API_CALL;
  if (!executables().contains(exec) || !flags) return fail(cudaErrorInvalidValue);
  *flags = exec->flags & ~cudaGraphInstantiateFlagUpload;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  HOSTCUDA_API_CALL;
  if (!executables().erase(exec)) return fail(cudaErrorInvalidValue);
  delete exec;
  return cudaSuccess;
}
