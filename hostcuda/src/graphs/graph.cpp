// Graphs and their nodes.
#include <algorithm>
#include <map>

#include "graphs/add_by_call.h"
#include "runtime/api.h"
#include "runtime/stream.h"

CUgraphNode_st* CUgraph_st::add(cudaGraphNodeType type, std::function<void()> work,
                                std::vector<CUgraphNode_st*> dependencies) {
  nodes.push_back(std::make_unique<CUgraphNode_st>(
      CUgraphNode_st{type, std::move(work), std::move(dependencies)}));
  static std::uint64_t number = 0;
  nodes.back()->number = ++number;
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

std::set<const CUgraph_st*>& graphs() {
  static auto* set = new std::set<const CUgraph_st*>;
  return *set;
}

cudaGraph_t new_graph() {
  auto* graph = new CUgraph_st;
  graphs().insert(graph);
  return graph;
}

cudaGraph_t copy_of(const CUgraph_st& original) {
  cudaGraph_t graph = new_graph();
  std::map<const CUgraphNode_st*, CUgraphNode_st*> copies;
  for (const CUgraphNode_st* node : original.in_order()) {
    std::vector<CUgraphNode_st*> dependencies;
    for (const CUgraphNode_st* one : node->dependencies) dependencies.push_back(copies.at(one));
    CUgraphNode_st* copy = graph->add(node->type, node->work, std::move(dependencies));
    copy->kernel = node->kernel;
    copy->conditional = node->conditional;
    copy->parameters = node->parameters;
    copy->number_of_original = node->number;
    if (node->child) copy->child = std::make_shared<const ChildGraph>(*node->child->graph);
    copies[node] = copy;
  }
  graph->handles = original.handles;
  return graph;
}

void destroy_graph(cudaGraph_t graph) {
  graphs().erase(graph);
  delete graph;
}

void run_all(const Works& works) {
  for (const auto& work : works) work();
}

void enqueue_graph(CUstream_st& stream, const Works& works) {
  enqueue(
      stream, [works] { run_all(works); }, cudaGraphNodeTypeGraph);
}

void write_list(const std::vector<cudaGraphNode_t>& found, cudaGraphNode_t* nodes,
                std::size_t& count) {
  const std::size_t room = nodes ? count : 0;
  for (std::size_t i = 0; i < room; ++i) nodes[i] = i < found.size() ? found[i] : nullptr;
  count = nodes ? std::min(found.size(), room) : found.size();
}

}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  HOSTCUDA_API_CALL;
  if (!graph || flags) return fail(cudaErrorInvalidValue);
  *graph = new_graph();
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  HOSTCUDA_API_CALL;
  if (!graphs().contains(graph) || graph->belongs_to_node) return fail(cudaErrorInvalidValue);
  destroy_graph(graph);
  return cudaSuccess;
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  HOSTCUDA_API_CALL;
  if (!clone || !graphs().contains(original)) return fail(cudaErrorInvalidValue);
  if (has_memory_nodes(*original))
    return fail(cudaErrorNotSupported, "a graph with memory nodes cannot be cloned");
  *clone = copy_of(*original);
  return cudaSuccess;
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* found, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
  HOSTCUDA_API_CALL;
  if (!found || !graph_of(original) || !graphs().contains(clone))
    return fail(cudaErrorInvalidValue);
  for (const auto& node : clone->nodes)
    if (node->number_of_original == original->number) return *found = node.get(), cudaSuccess;
  return fail(cudaErrorInvalidValue);
}

namespace {

cudaError_t list_nodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count,
                       bool roots_only) {
  HOSTCUDA_API_CALL;
  if (!graphs().contains(graph) || !count) return fail(cudaErrorInvalidValue);
  std::vector<cudaGraphNode_t> found;
  for (const auto& node : graph->nodes)
    if (!roots_only || node->dependencies.empty()) found.push_back(node.get());
  write_list(found, nodes, *count);
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
  if (!parameters) return fail(cudaErrorInvalidValue);
  return add_by_call(node, graph, dependencies, count, [&](cudaStream_t stream) {
    const cudaKernelNodeParams& p = *parameters;
    return cudaLaunchKernel(static_cast<const void*>(p.func), p.gridDim, p.blockDim, p.kernelParams,
                            p.sharedMemBytes, stream, file, line);
  });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemcpy3DParms* parameters) {
  const cudaError_t error = add_by_call(node, graph, dependencies, count, [&](cudaStream_t stream) {
    return cudaMemcpy3DAsync(parameters, stream);
  });
  if (error) return error;
  (*node)->type = cudaGraphNodeTypeMemcpy;  // also if the box is empty
  (*node)->parameters = *parameters;
  return cudaSuccess;
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     void* to, const void* from, std::size_t size,
                                     cudaMemcpyKind kind) {
  return add_by_call(node, graph, dependencies, count, [&](cudaStream_t stream) {
    return cudaMemcpyAsync(to, from, size, kind, stream);
  });
}

namespace {

bool has_equal_bytes(const cudaMemsetParams& p) {
  const unsigned char first = static_cast<unsigned char>(p.value);
  bool are_equal = true;
  for (unsigned i = 1; i < p.elementSize; ++i)
    are_equal = are_equal && static_cast<unsigned char>(p.value >> 8 * i) == first;
  return are_equal;
}

// The bytes of a row, which all rows get by a copy; none if cudaMemset writes the value.
std::shared_ptr<const std::vector<char>> row_of(const cudaMemsetParams& p) {
  if (has_equal_bytes(p)) return nullptr;
  auto row = std::make_shared<std::vector<char>>();
  for (std::size_t i = 0; i < p.width * p.elementSize; ++i)
    row->push_back(static_cast<char>(p.value >> 8 * (i % p.elementSize)));
  return row;
}

cudaError_t copy_to_rows(const std::vector<char>& row, void* to, std::size_t pitch,
                         std::size_t height, cudaStream_t stream) {
  for (std::size_t i = 0; i < height; ++i)
    if (const cudaError_t error = cudaMemcpyAsync(static_cast<char*>(to) + i * pitch, row.data(),
                                                  row.size(), cudaMemcpyHostToDevice, stream))
      return error;
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemsetParams* p) {
  HOSTCUDA_API_CALL;
  if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
    return fail(cudaErrorInvalidValue);
  const std::size_t bytes = p->width * p->elementSize;
  const std::size_t pitch = p->height > 1 ? p->pitch : bytes;
  if (pitch < bytes) return fail(cudaErrorInvalidValue);
  const std::shared_ptr<const std::vector<char>> row = row_of(*p);
  const cudaError_t error = add_by_call(node, graph, dependencies, count, [&](cudaStream_t stream) {
    return row ? copy_to_rows(*row, p->dst, pitch, p->height, stream)
               : cudaMemset2DAsync(p->dst, pitch, static_cast<int>(p->value), bytes, p->height,
                                   stream);
  });
  if (error) return error;
  (*node)->type = cudaGraphNodeTypeMemset;
  (*node)->parameters = *p;
  (*node)->work = [row, work = std::move((*node)->work)] { work(); };  // keeps the row
  return cudaSuccess;
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, std::size_t count,
                                 const cudaHostNodeParams* parameters) {
  if (!parameters) return fail(cudaErrorInvalidValue);
  return add_by_call(node, graph, dependencies, count, [&](cudaStream_t stream) {
    return cudaLaunchHostFunc(stream, parameters->fn, parameters->userData);
  });
}
