#include "graphs/graph_memory.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "graphs/graph.h"
#include "runtime/api.h"
#include "runtime/device.h"
#include "runtime/memory.h"
#include "runtime/stream.h"
#include "support/config.h"
#include "support/observer.h"
#include "support/poison.h"

namespace hostcuda {
namespace {

std::map<const void*, GraphMemory*>& graph_memories() {
  static auto* map = new std::map<const void*, GraphMemory*>;
  return *map;
}

std::shared_ptr<GraphMemory> memory_at(const void* address) {
  const auto found = graph_memories().find(address);
  return found == graph_memories().end() ? nullptr : found->second->shared_from_this();
}

// Returns the memory at this address if a launch has allocated it and nothing has freed it.
std::shared_ptr<GraphMemory> memory_in_use_at(const void* address) {
  const std::shared_ptr<GraphMemory> memory = memory_at(address);
  return memory ? memory->in_use : nullptr;
}

std::uint64_t& highest(int device) {
  static auto* list = new std::vector<std::uint64_t>(static_cast<std::size_t>(config().devices));
  return (*list)[static_cast<std::size_t>(device)];
}

std::uint64_t counted(int device) {
  std::uint64_t bytes = 0;
  for (const auto& [address, memory] : graph_memories())
    if (memory->device == device && memory->counts) bytes += memory->size;
  return bytes;
}

// Nobody may use the memory at the same time: the observer treats this as a write to all of it.
void lose_content(const GraphMemory& memory, std::size_t size) {
  if (runtime_observer) runtime_observer->claimed(memory.begin);
  const DeviceMemoryAccess access;
  if (config().poison) fill_with_poison(memory.begin, size);
}

cudaError_t make(std::shared_ptr<GraphMemory>& made, std::size_t size, int device) {
  void* memory = nullptr;
  if (!size) return fail(cudaErrorInvalidValue);
  if (const cudaError_t error = allocate(&memory, size, device, false)) return error;
  made = std::make_shared<GraphMemory>(static_cast<char*>(memory), size, device);
  return cudaSuccess;
}

CUgraphNode_st* add_allocation(CUgraph_st& graph, const std::shared_ptr<GraphMemory>& memory,
                               std::vector<CUgraphNode_st*> dependencies) {
  CUgraphNode_st* node = graph.add(
      cudaGraphNodeTypeMemAlloc, [memory] { lose_content(*memory, memory->size); },
      std::move(dependencies));
  node->memory = memory;
  return node;
}

// Fails if the graph already frees the memory.
cudaError_t add_free(CUgraphNode_st*& added, CUgraph_st& graph,
                     const std::shared_ptr<GraphMemory>& memory,
                     std::vector<CUgraphNode_st*> dependencies) {
  for (const auto& node : graph.nodes)
    if (node->type == cudaGraphNodeTypeMemFree && node->memory == memory)
      return fail(cudaErrorInvalidValue, "another node of the graph frees this memory");
  // Overwriting the first word makes a use after the free visible.
  const std::size_t word = std::min(sizeof(int), memory->size);
  added = graph.add(
      cudaGraphNodeTypeMemFree, [memory, word] { lose_content(*memory, word); },
      std::move(dependencies));
  added->memory = memory;
  return cudaSuccess;
}

bool are_valid(const cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
               std::size_t count) {
  return node && graphs().contains(graph) && are_dependencies(*graph, dependencies, count);
}

}  // namespace

GraphMemory::GraphMemory(char* begin, std::size_t size, int device)
    : begin(begin), size(size), device(device) {
  graph_memories()[begin] = this;
}

GraphMemory::~GraphMemory() {
  graph_memories().erase(begin);
  release(begin);
}

bool has_memory_nodes(const CUgraph_st& graph) {
  return std::ranges::any_of(graph.nodes, [](const auto& node) { return node->memory != nullptr; });
}

bool is_graph_memory(const void* address) { return graph_memories().contains(address); }

cudaError_t allocate_in_graph(void** pointer, std::size_t size, CUstream_st& stream) {
  if (!pointer) return fail(cudaErrorInvalidValue);
  std::shared_ptr<GraphMemory> memory;
  if (const cudaError_t error = make(memory, size, stream.device)) return error;
  stream.captured = {add_allocation(*stream.capture->graph, memory, stream.captured)};
  *pointer = memory->begin;
  return cudaSuccess;
}

cudaError_t free_in_graph(void* pointer, CUstream_st& stream) {
  if (stream.capture) {
    const std::shared_ptr<GraphMemory> memory = memory_at(pointer);
    if (!memory)
      return fail(cudaErrorInvalidValue,
                  "a captured cudaFreeAsync frees only memory that a graph has allocated");
    CUgraphNode_st* node = nullptr;
    if (const cudaError_t error = add_free(node, *stream.capture->graph, memory, stream.captured))
      return error;
    stream.captured = {node};
    return cudaSuccess;
  }
  const std::shared_ptr<GraphMemory> memory = memory_in_use_at(pointer);
  if (!memory) return refuse_free(pointer);
  memory->in_use = nullptr;
  enqueue(stream, [memory] { lose_content(*memory, std::min(sizeof(int), memory->size)); });
  return cudaSuccess;
}

cudaError_t free_graph_memory(void* pointer) {
  const std::shared_ptr<GraphMemory> memory = memory_in_use_at(pointer);
  if (!memory) return refuse_free(pointer);
  if (const cudaError_t error = refuse_unsafe_call()) return fail(error);
  synchronize_device(memory->device);
  memory->in_use = nullptr;
  lose_content(*memory, std::min(sizeof(int), memory->size));
  return cudaSuccess;
}

cudaError_t begin_launch(const GraphMemories& allocated, const GraphMemories& freed,
                         bool frees_before) {
  for (const auto& memory : allocated)
    if (memory->in_use && !frees_before)
      return fail(cudaErrorInvalidValue,
                  "memory that the graph's last launch has allocated is not freed yet");
  for (const auto& memory : freed)
    if (!memory->in_use && std::ranges::find(allocated, memory) == allocated.end())
      return fail(cudaErrorInvalidValue, "the graph frees memory that is not allocated");
  for (const auto& memory : allocated) {
    memory->in_use = memory;
    memory->counts = true;
    highest(memory->device) = std::max(highest(memory->device), counted(memory->device));
  }
  for (const auto& memory : freed) memory->in_use = nullptr;
  return cudaSuccess;
}

}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     cudaMemAllocNodeParams* parameters) {
  HOSTCUDA_API_CALL;
  if (!are_valid(node, graph, dependencies, count) || !parameters || !parameters->bytesize)
    return fail(cudaErrorInvalidValue);
  const cudaMemLocation& location = parameters->poolProps.location;
  if (location.type != cudaMemLocationTypeDevice || !valid_device(location.id))
    return fail(cudaErrorInvalidDevice);
  std::shared_ptr<GraphMemory> memory;
  if (const cudaError_t error = make(memory, parameters->bytesize, location.id)) return error;
  *node = add_allocation(*graph, memory, {dependencies, dependencies + count});
  parameters->dptr = memory->begin;
  return cudaSuccess;
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, std::size_t count,
                                    void* pointer) {
  HOSTCUDA_API_CALL;
  if (!are_valid(node, graph, dependencies, count)) return fail(cudaErrorInvalidValue);
  const std::shared_ptr<GraphMemory> memory = memory_at(pointer);
  if (!memory) return fail(cudaErrorInvalidValue, "no graph has allocated this memory");
  return add_free(*node, *graph, memory, {dependencies, dependencies + count});
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  HOSTCUDA_API_CALL;
  if (!valid_device(device)) return fail(cudaErrorInvalidDevice);
  if (!value || attribute > cudaGraphMemAttrReservedMemHigh) return fail(cudaErrorInvalidValue);
  const bool is_high =
      attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
  *static_cast<std::uint64_t*>(value) = is_high ? highest(device) : counted(device);
  return cudaSuccess;
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  HOSTCUDA_API_CALL;
  if (!valid_device(device)) return fail(cudaErrorInvalidDevice);
  const bool is_high =
      attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
  if (!value || !is_high || *static_cast<std::uint64_t*>(value) != 0)
    return fail(cudaErrorInvalidValue, "only a high watermark can be set, and only to 0");
  highest(device) = counted(device);
  return cudaSuccess;
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  HOSTCUDA_API_CALL;
  if (!valid_device(device)) return fail(cudaErrorInvalidDevice);
  for (const auto& [address, memory] : graph_memories())
    if (memory->device == device && !memory->in_use) memory->counts = false;
  return cudaSuccess;
}
