// Nodes that are described by their parameters: kernels, nodes with a condition, nodes of any type.
#include <cuda_runtime.h>

#include "graphs/add_by_call.h"
#include "graphs/graph.h"
#include "graphs/scratch_node.h"
#include "runtime/api.h"
#include "runtime/stream.h"

namespace hostcuda {
namespace {

// Returns work that runs the graphs of a node with a condition; `bodies` is the content of these
// graphs.
std::function<void()> conditional_work(const ConditionalHandle& handle,
                                       cudaGraphConditionalNodeType type,
                                       std::vector<Works> bodies) {
  return [&handle, type, bodies = std::move(bodies)] {
    const auto value = [&] { return __atomic_load_n(handle.value.get(), __ATOMIC_RELAXED); };
    if (type == cudaGraphCondTypeWhile) {
      while (value() && !context_is_broken()) run_all(bodies[0]);
      return;
    }
    const unsigned chosen = type == cudaGraphCondTypeIf ? !value() : value();
    if (chosen < bodies.size()) run_all(bodies[chosen]);
  };
}

// Calls visit(body) for the graphs of all nodes with a condition.
template <class Visit>
void for_each_body(const CUgraph_st& graph, const Visit& visit) {
  for (const auto& node : graph.nodes)
    if (node->conditional)
      for (const CUgraph_st* body : node->conditional->bodies) visit(*body);
}

bool may_be_in_body(cudaGraphNodeType type) {
  return type != cudaGraphNodeTypeHost && type != cudaGraphNodeTypeMemAlloc &&
         type != cudaGraphNodeTypeMemFree;
}

// Handles that exist; a program gets their addresses.
std::set<cudaGraphConditionalHandle>& handles() {
  static auto* set = new std::set<cudaGraphConditionalHandle>;
  return *set;
}

bool has_valid_size(const cudaConditionalNodeParams& p) {
  const unsigned most = p.type == cudaGraphCondTypeWhile ? 1
                        : p.type == cudaGraphCondTypeIf  ? 2
                                                         : ~0u;
  return p.size >= 1 && p.size <= most;
}

cudaError_t add_conditional_node(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, std::size_t count,
                                 cudaConditionalNodeParams& p) {
  HOSTCUDA_API_CALL;
  if (!node || !graphs().contains(graph) || !are_dependencies(*graph, dependencies, count))
    return fail(cudaErrorInvalidValue);
  if (!handles().contains(p.handle))
    return fail(cudaErrorInvalidValue, "cudaGraphConditionalHandleCreate did not make the handle");
  auto* handle = reinterpret_cast<ConditionalHandle*>(p.handle);
  if (handle->has_node)
    return fail(cudaErrorInvalidValue, "another node has this handle; each node needs its own");
  if (p.type > cudaGraphCondTypeSwitch || !has_valid_size(p))
    return fail(cudaErrorInvalidValue,
                "size must be 1 for while, 1 or 2 for if, and at least 1 for switch");
  auto made = std::make_shared<Conditional>();
  made->handle = handle;
  handle->has_node = true;
  made->type = p.type;
  for (unsigned i = 0; i < p.size; ++i) {
    made->bodies.push_back(new_graph());
    made->bodies.back()->belongs_to_node = true;
  }
  *node = graph->add(cudaGraphNodeTypeConditional, nullptr, {dependencies, dependencies + count});
  p.phGraph_out = made->bodies.data();
  (*node)->conditional = std::move(made);
  return cudaSuccess;
}

}  // namespace

Conditional::~Conditional() {
  for (cudaGraph_t body : bodies) destroy_graph(body);
}

std::function<void()> work_of(const CUgraphNode_st& node) {
  if (node.child) return [works = works_of(*node.child->graph)] { run_all(works); };
  if (!node.conditional) return node.work;
  std::vector<Works> bodies;
  for (const CUgraph_st* body : node.conditional->bodies) bodies.push_back(works_of(*body));
  return conditional_work(*node.conditional->handle, node.conditional->type, std::move(bodies));
}

Works works_of(const CUgraph_st& graph) {
  Works works{set_default_values(graph.handles)};
  for (const CUgraphNode_st* node : graph.in_order()) works.push_back(work_of(*node));
  return works;
}

std::function<void()> set_default_values(const std::vector<ConditionalHandle*>& handles) {
  return [handles] {
    for (ConditionalHandle* handle : handles)
      if (handle->assigns_default) *handle->value = handle->default_value;
  };
}

ConditionValues new_values(const CUgraph_st& graph) {
  ConditionValues values;
  for (ConditionalHandle* handle : graph.handles)
    values.push_back({handle, std::make_shared<unsigned>(handle->default_value)});
  for_each_body(graph, [&](const CUgraph_st& body) {
    const ConditionValues more = new_values(body);
    values.insert(values.end(), more.begin(), more.end());
  });
  return values;
}

void select_values(const ConditionValues& values) {
  for (const auto& [handle, value] : values) handle->value = value;
}

bool has_valid_bodies(const CUgraph_st& graph) {
  bool are_valid = true;
  for_each_body(graph, [&](const CUgraph_st& body) {
    for (const auto& node : body.nodes) are_valid = are_valid && may_be_in_body(node->type);
    are_valid = are_valid && has_valid_bodies(body);
  });
  return are_valid;
}

void describe_node(const CUstream_st& stream, const NodeParameters& parameters) {
  if (stream.capture) stream.captured.front()->parameters = parameters;
}

void describe_kernel_node(const CUstream_st& stream, const LaunchRequest& request,
                          std::shared_ptr<const Work> body) {
  auto kernel = std::make_shared<KernelOfNode>();
  kernel->request = request;
  kernel->arguments.resize(body->argument_count());
  body->list_arguments(kernel->arguments.data());
  kernel->body = std::move(body);
  stream.captured.front()->kernel = std::move(kernel);
}

}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* p) {
  HOSTCUDA_API_CALL;
  if (!p || !graph_of(node) || !node->kernel) return fail(cudaErrorInvalidValue);
  const LaunchRequest& request = node->kernel->request;
  if (!request.function || !request.launch_again)
    return fail(
        cudaErrorNotSupported,
        std::string("kernel ") + request.site.kernel +
            " is overloaded or has references as parameters, so its node has no parameters");
  register_kernel(request.function, request.site.kernel, request.launch_again);
  *p = {};
  p->func = const_cast<void*>(request.function);
  p->gridDim = request.grid;
  p->blockDim = request.block;
  p->sharedMemBytes = static_cast<unsigned>(request.dynamic_shared_bytes);
  p->kernelParams = const_cast<void**>(node->kernel->arguments.data());
  return cudaSuccess;
}

// A cooperative kernel and a kernel with clusters keep these attributes.
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p,
                                         const char* file, int line) {
  HOSTCUDA_API_CALL;
  if (!p || !graph_of(node) || !node->kernel) return fail(cudaErrorInvalidValue);
  const LaunchRequest& old = node->kernel->request;
  cudaLaunchAttribute attributes[2] = {{cudaLaunchAttributeClusterDimension, {}},
                                       {cudaLaunchAttributeCooperative, {}}};
  attributes[0].val.clusterDim = {old.cluster.x, old.cluster.y, old.cluster.z};
  attributes[1].val.cooperative = old.cooperative;
  return replace_content(node, [&](cudaGraphNode_t* made, cudaGraph_t scratch) {
    return add_by_call(made, scratch, nullptr, 0, [&](cudaStream_t stream) {
      const cudaLaunchConfig_t config{p->gridDim, p->blockDim, p->sharedMemBytes,
                                      stream,     attributes,  2};
      return cudaLaunchKernelExC(&config, static_cast<const void*>(p->func), p->kernelParams, file,
                                 line);
    });
  });
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned default_value, unsigned flags) {
  HOSTCUDA_API_CALL;
  if (!handle || !graphs().contains(graph) || flags > cudaGraphCondAssignDefault)
    return fail(cudaErrorInvalidValue);
  auto* made =
      new ConditionalHandle{std::make_shared<unsigned>(default_value), default_value, flags != 0};
  graph->handles.push_back(made);
  *handle = reinterpret_cast<cudaGraphConditionalHandle>(made);
  handles().insert(*handle);
  return cudaSuccess;
}

void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) {
  unsigned* set = reinterpret_cast<ConditionalHandle*>(handle)->value.get();
  __atomic_store_n(set, value, __ATOMIC_RELAXED);
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                             const cudaGraphNode_t* dependencies, const cudaGraphEdgeData*,
                             std::size_t count, cudaGraphNodeParams* p, const char* file,
                             int line) {
  HOSTCUDA_API_CALL_OF_OTHERS;
  if (!p) return fail(cudaErrorInvalidValue);
  switch (p->type) {
    case cudaGraphNodeTypeKernel:
      return cudaGraphAddKernelNode(node, graph, dependencies, count, &p->kernel, file, line);
    case cudaGraphNodeTypeMemcpy:
      return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
      return cudaGraphAddMemsetNode(node, graph, dependencies, count, &p->memset);
    case cudaGraphNodeTypeHost:
      return cudaGraphAddHostNode(node, graph, dependencies, count, &p->host);
    case cudaGraphNodeTypeGraph:
      return cudaGraphAddChildGraphNode(node, graph, dependencies, count, p->graph.graph);
    case cudaGraphNodeTypeEmpty:
      return cudaGraphAddEmptyNode(node, graph, dependencies, count);
    case cudaGraphNodeTypeWaitEvent:
      return cudaGraphAddEventWaitNode(node, graph, dependencies, count, p->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
      return cudaGraphAddEventRecordNode(node, graph, dependencies, count, p->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc:
      return cudaGraphAddMemAllocNode(node, graph, dependencies, count, &p->alloc);
    case cudaGraphNodeTypeMemFree:
      return cudaGraphAddMemFreeNode(node, graph, dependencies, count, p->free.dptr);
    case cudaGraphNodeTypeConditional:
      return add_conditional_node(node, graph, dependencies, count, p->conditional);
  }
  return fail(cudaErrorNotSupported, "nodes of this type are not emulated");
}
