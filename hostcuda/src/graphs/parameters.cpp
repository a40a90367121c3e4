// The parameters of nodes that copy, fill, call a function, or record or await an event.
#include "graphs/add_by_call.h"
#include "graphs/scratch_node.h"
#include "runtime/api.h"

namespace hostcuda {
namespace {

template <class Parameters>
cudaError_t get_parameters(cudaGraphNode_t node, cudaGraphNodeType type, Parameters* to) {
  HOSTCUDA_API_CALL;
  if (!to || !graph_of(node) || node->type != type) return fail(cudaErrorInvalidValue);
  const auto* parameters = std::get_if<Parameters>(&node->parameters);
  if (!parameters)
    return fail(cudaErrorNotSupported, "the copy of a symbol has no parameters here");
  *to = *parameters;
  return cudaSuccess;
}

}  // namespace

cudaError_t add_symbol_node(cudaGraphNode_t* node, cudaGraph_t graph,
                            const cudaGraphNode_t* dependencies, std::size_t count, void* symbol,
                            std::size_t symbol_size, void* other, std::size_t size,
                            std::size_t offset, SymbolCopy direction, cudaMemcpyKind kind) {
  return add_by_call(node, graph, dependencies, count, [&](cudaStream_t stream) {
    return copy_symbol(symbol, symbol_size, other, size, offset, direction, kind, stream, true);
  });
}

}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* p) {
  return get_parameters(node, cudaGraphNodeTypeMemcpy, p);
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
  return replace_content(node, [&](cudaGraphNode_t* made, cudaGraph_t graph) {
    return cudaGraphAddMemcpyNode(made, graph, nullptr, 0, p);
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           std::size_t size, cudaMemcpyKind kind) {
  return replace_content(node, [&](cudaGraphNode_t* made, cudaGraph_t graph) {
    return cudaGraphAddMemcpyNode1D(made, graph, nullptr, 0, to, from, size, kind);
  });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* p) {
  return get_parameters(node, cudaGraphNodeTypeMemset, p);
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
  return replace_content(node, [&](cudaGraphNode_t* made, cudaGraph_t graph) {
    return cudaGraphAddMemsetNode(made, graph, nullptr, 0, p);
  });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* p) {
  return get_parameters(node, cudaGraphNodeTypeHost, p);
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* p) {
  return replace_content(node, [&](cudaGraphNode_t* made, cudaGraph_t graph) {
    return cudaGraphAddHostNode(made, graph, nullptr, 0, p);
  });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* p, const char* file,
                                   int line) {
  if (p && p->type == cudaGraphNodeTypeKernel)
    return cudaGraphKernelNodeSetParams(node, &p->kernel, file, line);
  return replace_content(node, [&](cudaGraphNode_t* made, cudaGraph_t graph) {
    return cudaGraphAddNode(made, graph, nullptr, nullptr, 0, p, file, line);
  });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies, std::size_t count,
                                        cudaEvent_t event) {
  return add_by_call(node, graph, dependencies, count, [&](cudaStream_t stream) {
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal);
  });
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return get_parameters(node, cudaGraphNodeTypeEventRecord, event);
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return replace_content(node, [&](cudaGraphNode_t* made, cudaGraph_t graph) {
    return cudaGraphAddEventRecordNode(made, graph, nullptr, 0, event);
  });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, std::size_t count,
                                      cudaEvent_t event) {
  return add_by_call(node, graph, dependencies, count, [&](cudaStream_t stream) {
    return cudaStreamWaitEvent(stream, event, cudaEventWaitExternal);
  });
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return get_parameters(node, cudaGraphNodeTypeWaitEvent, event);
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return replace_content(node, [&](cudaGraphNode_t* made, cudaGraph_t graph) {
    return cudaGraphAddEventWaitNode(made, graph, nullptr, 0, event);
  });
}
