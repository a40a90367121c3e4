// Memory that graphs allocate. It has the same address in all launches of a graph, and a launch
// that does not free it leaves it to the program, which may then free it.
#ifndef HOSTCUDA_SRC_GRAPHS_GRAPH_MEMORY_H
#define HOSTCUDA_SRC_GRAPHS_GRAPH_MEMORY_H

#include <cstddef>
#include <memory>
#include <vector>

#include "cuda_runtime.h"

namespace hostcuda {

// Exists as long as a node refers to it or the program may use it.
struct GraphMemory : std::enable_shared_from_this<GraphMemory> {
  GraphMemory(char* begin, std::size_t size, int device);
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  char* begin;
  std::size_t size;
  int device;
  bool counts = false;  // in the attributes of the device's graph memory
  // A reference to itself from the launch that allocates the memory until it is freed.
  std::shared_ptr<GraphMemory> in_use = nullptr;
};

// A graph with nodes that allocate or free memory cannot be cloned or be a child, and has at most
// one executable at a time, as in CUDA.
bool has_memory_nodes(const CUgraph_st& graph);

// True if a graph allocates memory at this address.
bool is_graph_memory(const void* address);

// cudaMallocAsync and cudaFreeAsync in a captured stream, which become nodes.
cudaError_t allocate_in_graph(void** pointer, std::size_t size, CUstream_st& stream);
// Also frees memory of a graph in a stream that is not captured.
cudaError_t free_in_graph(void* pointer, CUstream_st& stream);
// cudaFree of memory that a graph allocated.
cudaError_t free_graph_memory(void* pointer);

// The memory that a launch of a graph allocates and frees.
using GraphMemories = std::vector<std::shared_ptr<GraphMemory>>;
// Called when a graph is launched. Fails if the program has not yet freed the memory of the
// previous launch, unless frees_before is true, or if the graph frees memory that is not in use.
cudaError_t begin_launch(const GraphMemories& allocated, const GraphMemories& freed,
                         bool frees_before);

}  // namespace hostcuda

#endif
