// New parameters for the nodes of executable graphs, and nodes that do not run.
#include "graphs/executable.h"
#include "graphs/scratch_node.h"
#include "runtime/api.h"

namespace hostcuda {
namespace {

template <class Add>
cudaError_t replace_work(cudaGraphExec_t exec, cudaGraphNode_t node, const Add& add) {
  HOSTCUDA_API_CALL;
  CUgraphExec_st::Node* replaced = find_node(exec, node);
  if (!replaced) return fail(cudaErrorInvalidValue);
  return with_scratch_node(replaced->type, add, [&](const CUgraphNode_st& made) {
    replaced->work = made.work;
    if (const auto* event = std::get_if<cudaEvent_t>(&made.parameters)) replaced->event = *event;
  });
}

// Returns a node that can be disabled, or null.
CUgraphExec_st::Node* optional_node(cudaGraphExec_t exec, cudaGraphNode_t node) {
  CUgraphExec_st::Node* found = find_node(exec, node);
  const bool can_be_disabled =
      found && (found->type == cudaGraphNodeTypeKernel || found->type == cudaGraphNodeTypeMemcpy ||
                found->type == cudaGraphNodeTypeMemset);
  return can_be_disabled ? found : nullptr;
}

}  // namespace
}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* p, const char* file,
                                             int line) {
  return replace_work(exec, node, [&](cudaGraphNode_t* made, cudaGraph_t graph) {
    return cudaGraphAddKernelNode(made, graph, nullptr, 0, p, file, line);
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* p) {
  return replace_work(exec, node, [&](cudaGraphNode_t* made, cudaGraph_t graph) {
    return cudaGraphAddMemcpyNode(made, graph, nullptr, 0, p);
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                               const void* from, std::size_t size,
                                               cudaMemcpyKind kind) {
  return replace_work(exec, node, [&](cudaGraphNode_t* made, cudaGraph_t graph) {
    return cudaGraphAddMemcpyNode1D(made, graph, nullptr, 0, to, from, size, kind);
  });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* p) {
  return replace_work(exec, node, [&](cudaGraphNode_t* made, cudaGraph_t graph) {
    return cudaGraphAddMemsetNode(made, graph, nullptr, 0, p);
  });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* p) {
  return replace_work(exec, node, [&](cudaGraphNode_t* made, cudaGraph_t graph) {
    return cudaGraphAddHostNode(made, graph, nullptr, 0, p);
  });
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  return replace_work(exec, node, [&](cudaGraphNode_t* made, cudaGraph_t graph) {
    return cudaGraphAddEventRecordNode(made, graph, nullptr, 0, event);
  });
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  return replace_work(exec, node, [&](cudaGraphNode_t* made, cudaGraph_t graph) {
    return cudaGraphAddEventWaitNode(made, graph, nullptr, 0, event);
  });
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       cudaGraphNodeParams* p, const char* file, int line) {
  if (p && p->type == cudaGraphNodeTypeGraph)
    return cudaGraphExecChildGraphNodeSetParams(exec, node, p->graph.graph);
  return replace_work(exec, node, [&](cudaGraphNode_t* made, cudaGraph_t graph) {
    return cudaGraphAddNode(made, graph, nullptr, nullptr, 0, p, file, line);
  });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  HOSTCUDA_API_CALL;
  CUgraphExec_st::Node* found = optional_node(exec, node);
  if (!found) return fail(cudaErrorInvalidValue);
  found->is_enabled = enabled != 0;
  return cudaSuccess;
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
  HOSTCUDA_API_CALL;
  const CUgraphExec_st::Node* found = optional_node(exec, node);
  if (!found || !enabled) return fail(cudaErrorInvalidValue);
  *enabled = found->is_enabled;
  return cudaSuccess;
}
