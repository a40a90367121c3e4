#include "runtime/graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/api.h"
#include "runtime/memory.h"
#include "runtime/stream.h"
#include "support/config.h"
#include "support/poison.h"

// An executable graph: its nodes, in an order in which they can run, and the indices of their
// dependencies.
struct CUgraphExec_st {
  struct Node {
    cudaGraphNodeType type;
    std::function<void()> work;
    std::vector<std::size_t> dependencies;
    unsigned branch = 0;  // for an observer's clock: nodes of one branch run one after the other
  };
  std::vector<Node> nodes;
  hostcuda::OperationPointer last = nullptr;  // end of the last launch; the next one waits for it
  std::map<const CUgraphNode_st*, std::size_t> numbers;  // maps nodes to indices in `nodes`
};

CUgraphNode_st* CUgraph_st::add(cudaGraphNodeType type, std::function<void()> work,
                                std::vector<CUgraphNode_st*> dependencies) {
  nodes.push_back(std::make_unique<CUgraphNode_st>(
      CUgraphNode_st{type, std::move(work), std::move(dependencies)}));
  return nodes.back().get();
}

std::vector<CUgraphNode_st*> CUgraph_st::in_order() const {
  std::vector<CUgraphNode_st*> order;
  std::set<const CUgraphNode_st*> placed;
  for (bool any = true; any;) {
    any = false;
    for (const auto& node : nodes) {
      if (placed.contains(node.get())) continue;
      const auto& needed = node->dependencies;
      if (!std::ranges::all_of(needed, [&](auto* one) { return placed.contains(one); })) continue;
      placed.insert(node.get());
      order.push_back(node.get());
      any = true;
    }
  }
  return order;
}

namespace hostcuda {
namespace {

std::vector<std::unique_ptr<Capture>>& captures() {
  static auto* list = new std::vector<std::unique_ptr<Capture>>;
  return *list;
}

std::set<const CUgraph_st*>& graphs() {
  static auto* set = new std::set<const CUgraph_st*>;
  return *set;
}

std::set<const CUgraphExec_st*>& executables() {
  static auto* set = new std::set<const CUgraphExec_st*>;
  return *set;
}

cudaGraph_t new_graph() {
  auto* graph = new CUgraph_st;
  graphs().insert(graph);
  return graph;
}

// True if the last operations of the stream that began the capture depend on every captured
// operation.
bool all_joined(const Capture& capture) {
  std::vector<CUgraphNode_st*> todo = capture.origin->captured;
  std::set<const CUgraphNode_st*> reached;
  while (!todo.empty()) {
    CUgraphNode_st* node = todo.back();
    todo.pop_back();
    if (!reached.insert(node).second) continue;
    todo.insert(todo.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return reached.size() == capture.graph->nodes.size();
}

// Adds a node by making an ordinary call on a captured stream.
template <class Call>
cudaError_t add_by_call(cudaGraphNode_t* node, cudaGraph_t graph,
                        const cudaGraphNode_t* dependencies, std::size_t count, const Call& call) {
  HOSTCUDA_API_CALL;
  if (!node || !graphs().contains(graph) || (count && !dependencies))
    return fail(cudaErrorInvalidValue);
  cudaStream_t stream = nullptr;
  if (const cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))
    return error;
  Capture capture{graph, stream, true, {stream}};
  stream->capture = &capture;
  stream->captured.assign(dependencies, dependencies + count);
  const cudaError_t error = call(stream);
  if (!error) *node = stream->captured.empty() ? nullptr : stream->captured.front();
  stream->capture = nullptr;
  cudaStreamDestroy(stream);
  return error;
}

// Appends one operation that does all the work of a graph, in the order of `works`.
cudaError_t enqueue_graph(CUstream_st& stream, const std::vector<std::function<void()>>& works) {
  const auto do_all = [works] {
    for (const auto& work : works) work();
  };
  enqueue(stream, do_all, cudaGraphNodeTypeGraph);
  return cudaSuccess;
}

// Frees memory that a graph allocated, unless the program has already freed it.
void free_if_allocated(void* memory) {
  cudaPointerAttributes attributes;
  if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess &&
      attributes.type == cudaMemoryTypeDevice)
    cudaFree(memory);
}

void lose_content(void* memory, std::size_t size) {
  const DeviceMemoryAccess access;
  if (config().poison) fill_with_poison(memory, size);
}

cudaError_t launch_node(const cudaKernelNodeParams& p, cudaStream_t stream, const char* file,
                        int line) {
  return cudaLaunchKernel(static_cast<const void*>(p.func), p.gridDim, p.blockDim, p.kernelParams,
                          p.sharedMemBytes, stream, file, line);
}

cudaError_t make_executable(CUgraphExec_st& exec, const CUgraph_st& graph) {
  exec = {};
  for (const CUgraphNode_st* node : graph.in_order()) {
    CUgraphExec_st::Node copy{node->type, node->work, {}};
    for (const CUgraphNode_st* one : node->dependencies)
      copy.dependencies.push_back(exec.numbers.at(one));
    exec.numbers[node] = exec.nodes.size();
    exec.nodes.push_back(std::move(copy));
  }
  return exec.nodes.size() == graph.nodes.size() ? cudaSuccess : cudaErrorInvalidValue;
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

cudaError_t capture_error(const CUstream_st& stream) {
  if (stream.capture)
    return stream.capture->valid ? cudaSuccess : cudaErrorStreamCaptureInvalidated;
  if (!is_default(stream)) return cudaSuccess;
  for (const auto& capture : captures())
    for (const CUstream_st* captured : capture->streams)
      if (captured->with_default) return capture->valid = false, cudaErrorStreamCaptureImplicit;
  return cudaSuccess;
}

cudaError_t refuse_waiting(CUstream_st& stream) {
  if (!stream.capture) return is_default(stream) ? refuse_waiting_for_all() : cudaSuccess;
  stream.capture->valid = false;
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t refuse_waiting_for_all() {
  for (const auto& capture : captures()) capture->valid = false;
  return captures().empty() ? cudaSuccess : cudaErrorStreamCaptureUnsupported;
}

}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode) {
  HOSTCUDA_API_CALL_ON(handle);
  if (is_default(*stream)) return fail(cudaErrorStreamCaptureUnsupported);
  if (stream->capture) return fail(cudaErrorIllegalState);
  captures().push_back(std::make_unique<Capture>(Capture{new_graph(), stream, true, {stream}}));
  stream->capture = captures().back().get();
  stream->captured.clear();
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  HOSTCUDA_API_CALL_ON(handle);
  if (!graph) return fail(cudaErrorInvalidValue);
  *graph = nullptr;
  if (!stream->capture) return fail(cudaErrorIllegalState);
  Capture& capture = *stream->capture;
  if (capture.origin != stream) {
    capture.valid = false;
    return fail(cudaErrorStreamCaptureUnmatched);
  }
  const cudaError_t error = !capture.valid         ? cudaErrorStreamCaptureInvalidated
                            : !all_joined(capture) ? cudaErrorStreamCaptureUnjoined
                                                   : cudaSuccess;
  cudaGraph_t captured = capture.graph;
  for (CUstream_st* one : capture.streams) one->capture = nullptr;
  end_capture_of_events(&capture);
  std::erase_if(captures(), [&](const auto& one) { return one.get() == &capture; });
  if (error) {
    graphs().erase(captured);
    delete captured;
    return fail(error);
  }
  *graph = captured;
  return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id) {
  HOSTCUDA_API_CALL_ON(handle);
  if (!status) return fail(cudaErrorInvalidValue);
  *status = !stream->capture         ? cudaStreamCaptureStatusNone
            : stream->capture->valid ? cudaStreamCaptureStatusActive
                                     : cudaStreamCaptureStatusInvalidated;
  if (id) *id = reinterpret_cast<unsigned long long>(stream->capture);
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(stream, status);
}

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  HOSTCUDA_API_CALL;
  if (!graph || flags) return fail(cudaErrorInvalidValue);
  *graph = new_graph();
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  HOSTCUDA_API_CALL;
  if (!graphs().erase(graph)) return fail(cudaErrorInvalidValue);
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  HOSTCUDA_API_CALL;
  if (!clone || !graphs().contains(original)) return fail(cudaErrorInvalidValue);
  *clone = new_graph();
  std::map<const CUgraphNode_st*, CUgraphNode_st*> copies;
  for (const CUgraphNode_st* node : original->in_order()) {
    std::vector<CUgraphNode_st*> dependencies;
    for (const CUgraphNode_st* one : node->dependencies) dependencies.push_back(copies.at(one));
    copies[node] = (*clone)->add(node->type, node->work, std::move(dependencies));
  }
  return cudaSuccess;
}

namespace {

cudaError_t list_nodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count,
                       bool roots_only) {
  HOSTCUDA_API_CALL;
  if (!graphs().contains(graph) || !count) return fail(cudaErrorInvalidValue);
  std::size_t found = 0;
  for (const auto& node : graph->nodes) {
    if (roots_only && !node->dependencies.empty()) continue;
    if (nodes && found < *count) nodes[found] = node.get();
    ++found;
  }
  *count = nodes ? std::min(found, *count) : found;
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return list_nodes(graph, nodes, count, false);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return list_nodes(graph, nodes, count, true);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  HOSTCUDA_API_CALL;
  if (!node || !type) return fail(cudaErrorInvalidValue);
  *type = node->type;
  return cudaSuccess;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, std::size_t count) {
  HOSTCUDA_API_CALL;
  if (!graphs().contains(graph) || (count && (!from || !to))) return fail(cudaErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i) to[i]->dependencies.push_back(from[i]);
  return cudaSuccess;
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, std::size_t count) {
  return add_by_call(node, graph, dependencies, count, [&](cudaStream_t stream) {
    enqueue(
        *stream, [] {}, cudaGraphNodeTypeEmpty);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaKernelNodeParams* parameters, const char* file,
                                   int line) {
  return add_by_call(node, graph, dependencies, count, [&](cudaStream_t stream) {
    return launch_node(*parameters, stream, file, line);
  });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemcpy3DParms* parameters) {
  return add_by_call(node, graph, dependencies, count,
                     [&](cudaStream_t stream) { return cudaMemcpy3DAsync(parameters, stream); });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     void* to, const void* from, std::size_t size,
                                     cudaMemcpyKind kind) {
  return add_by_call(node, graph, dependencies, count, [&](cudaStream_t stream) {
    return cudaMemcpyAsync(to, from, size, kind, stream);
  });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemsetParams* p) {
  if (p && p->elementSize != 1 && p->value != 0 && p->value != 0xffffffffu)
    return fail(cudaErrorNotSupported);
  return add_by_call(node, graph, dependencies, count, [&](cudaStream_t stream) {
    return cudaMemset2DAsync(p->dst, p->height > 1 ? p->pitch : p->width * p->elementSize,
                             static_cast<int>(p->value), p->width * p->elementSize, p->height,
                             stream);
  });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, std::size_t count,
                                 const cudaHostNodeParams* parameters) {
  return add_by_call(node, graph, dependencies, count, [&](cudaStream_t stream) {
    return cudaLaunchHostFunc(stream, parameters->fn, parameters->userData);
  });
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     cudaMemAllocNodeParams* parameters) {
  if (!parameters || !parameters->bytesize) return fail(cudaErrorInvalidValue);
  if (const cudaError_t error = cudaMalloc(&parameters->dptr, parameters->bytesize)) return error;
  const std::shared_ptr<void> memory(parameters->dptr, free_if_allocated);
  const std::size_t size = parameters->bytesize;
  return add_by_call(node, graph, dependencies, count, [&](cudaStream_t stream) {
    enqueue(
        *stream, [memory, size] { lose_content(memory.get(), size); }, cudaGraphNodeTypeMemAlloc);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, std::size_t count,
                                    void* memory) {
  cudaPointerAttributes attributes;
  if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess ||
      attributes.type != cudaMemoryTypeDevice)
    return fail(cudaErrorInvalidValue);
  return add_by_call(node, graph, dependencies, count, [&](cudaStream_t stream) {
    // Overwriting the first word makes a use after the free visible.
    enqueue(
        *stream, [memory] { lose_content(memory, sizeof(int)); }, cudaGraphNodeTypeMemFree);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, std::size_t count,
                                       cudaGraph_t child) {
  if (!graphs().contains(child)) return fail(cudaErrorInvalidValue);
  std::vector<std::function<void()>> works;
  for (const CUgraphNode_st* one : child->in_order()) works.push_back(one->work);
  return add_by_call(node, graph, dependencies, count,
                     [&](cudaStream_t stream) { return enqueue_graph(*stream, works); });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  HOSTCUDA_API_CALL;
  if (!exec || !graphs().contains(graph)) return fail(cudaErrorInvalidValue);
  auto made = std::make_unique<CUgraphExec_st>();
  if (const cudaError_t error = make_executable(*made, *graph)) return fail(error);
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
  if (const cudaError_t error = make_executable(updated, *graph)) return fail(error);
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
  for (std::size_t i = 0; i < updated.nodes.size(); ++i)
    updated.nodes[i].branch = exec->nodes[i].branch;
  updated.last = exec->last;
  *exec = std::move(updated);
  return cudaSuccess;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters,
                                             const char* file, int line) {
  if (!executables().contains(exec) || !exec->numbers.contains(node) || !parameters)
    return fail(cudaErrorInvalidValue);
  cudaGraph_t scratch = nullptr;
  if (const cudaError_t error = cudaGraphCreate(&scratch, 0)) return error;
  cudaGraphNode_t made = nullptr;
  const cudaError_t error =
      cudaGraphAddKernelNode(&made, scratch, nullptr, 0, parameters, file, line);
  if (!error) exec->nodes[exec->numbers.at(node)].work = made->work;
  cudaGraphDestroy(scratch);
  return error;
}

// Appends to the stream an empty operation, then the graph's nodes, then another empty operation.
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  HOSTCUDA_API_CALL_ON(handle);
  if (!executables().contains(exec)) return fail(cudaErrorInvalidValue);
  if (const cudaError_t error = capture_error(*stream)) return fail(error);
  if (stream->capture) {
    std::vector<std::function<void()>> works;
    for (const auto& node : exec->nodes) works.push_back(node.work);
    return enqueue_graph(*stream, works);
  }
  if (exec->last) stream->awaited.push_back(exec->last);
  const OperationPointer begin = enqueue(*stream, [] {});
  std::vector<OperationPointer> operations;
  for (const auto& node : exec->nodes) {
    auto operation = std::make_shared<Operation>();
    operation->work = node.work;
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
