// New parameters for the nodes of executable graphs, and nodes that do not run.
#include "graphs/executable.h"
#include "runtime/api.h"

namespace hostcuda {
namespace {

// Makes a node in a separate graph, by add(&node, graph), and takes its work from there.
template <class Add>
cudaError_t replace_work(cudaGraphExec_t exec, cudaGraphNode_t node, const Add& add) {
  HOSTCUDA_API_CALL;
  if (!executables().contains(exec) || !exec->numbers.contains(node))
    return fail(cudaErrorInvalidValue);
  CUgraphExec_st::Node& replaced = exec->nodes[exec->numbers.at(node)];
  cudaGraph_t scratch = new_graph();
  cudaGraphNode_t made = nullptr;
  cudaError_t error = add(&made, scratch);
  if (!error && made->type != replaced.type)
    error = fail(cudaErrorInvalidValue, "the node has another type");
  if (!error) replaced.work = made->work;
  destroy_graph(scratch);
  return error;
}

// Returns a node that can be disabled, or null.
CUgraphExec_st::Node* optional_node(cudaGraphExec_t exec, cudaGraphNode_t node) {
  if (!executables().contains(exec) || !exec->numbers.contains(node)) return nullptr;
  CUgraphExec_st::Node& found = exec->nodes[exec->numbers.at(node)];
  const bool can_be_disabled = found.type == cudaGraphNodeTypeKernel ||
                               found.type == cudaGraphNodeTypeMemcpy ||
                               found.type == cudaGraphNodeTypeMemset;
  return can_be_disabled ? &found : nullptr;
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
