// Adds a node to a graph by making an ordinary call, such as a copy, on a captured stream.
#ifndef HOSTCUDA_SRC_GRAPHS_ADD_BY_CALL_H
#define HOSTCUDA_SRC_GRAPHS_ADD_BY_CALL_H

#include "graphs/graph.h"
#include "runtime/api.h"
#include "runtime/stream.h"

namespace hostcuda {

// Makes one node of those that a call has added, one for each row of a copy. There is none if the
// call had nothing to do.
inline CUgraphNode_st* unite_nodes(CUgraph_st& graph, std::size_t first, CUstream_st& stream) {
  auto& nodes = graph.nodes;
  if (nodes.size() == first)
    enqueue(
        stream, [] {}, cudaGraphNodeTypeEmpty);
  if (nodes.size() > first + 1) {
    Works works;
    for (std::size_t i = first; i < nodes.size(); ++i) works.push_back(std::move(nodes[i]->work));
    nodes.resize(first + 1);
    nodes[first]->work = [works = std::move(works)] {
      for (const auto& work : works) work();
    };
  }
  return nodes[first].get();
}

// Makes a call that copies or fills row by row. In a captured stream, the rows become one node.
template <class Call>
cudaError_t capture_rows(cudaStream_t handle, const NodeParameters& parameters, const Call& call) {
  CUstream_st* stream = in_kernel() ? nullptr : find_stream(handle);
  if (!stream || !stream->capture) return call();
  CUgraph_st& graph = *stream->capture->graph;
  const std::size_t before = graph.nodes.size();
  const std::vector<CUgraphNode_st*> dependencies = stream->captured;
  const cudaError_t error = call();
  if (error) {
    graph.nodes.resize(before);
    stream->captured = dependencies;
  } else if (graph.nodes.size() > before) {
    stream->captured = {unite_nodes(graph, before, *stream)};
    stream->captured.front()->parameters = parameters;
  }
  return error;
}

// call: gets the stream and returns an error.
template <class Call>
cudaError_t add_by_call(cudaGraphNode_t* node, cudaGraph_t graph,
                        const cudaGraphNode_t* dependencies, std::size_t count, const Call& call) {
  HOSTCUDA_API_CALL;
  if (!node || !graphs().contains(graph) || !are_dependencies(*graph, dependencies, count))
    return fail(cudaErrorInvalidValue);
  cudaStream_t stream = nullptr;
  if (const cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))
    return error;
  Capture capture{graph, stream, true, {stream}};
  stream->capture = &capture;
  stream->captured.assign(dependencies, dependencies + count);
  const std::size_t before = graph->nodes.size();
  const cudaError_t error = call(stream);
  if (error)
    graph->nodes.resize(before);
  else
    *node = unite_nodes(*graph, before, *stream);
  stream->capture = nullptr;
  cudaStreamDestroy(stream);
  return error;
}

}  // namespace hostcuda

#endif
