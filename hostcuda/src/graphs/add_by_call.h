// Adds a node to a graph by making an ordinary call, such as a copy, on a captured stream.
#ifndef HOSTCUDA_SRC_GRAPHS_ADD_BY_CALL_H
#define HOSTCUDA_SRC_GRAPHS_ADD_BY_CALL_H

#include "graphs/graph.h"
#include "runtime/api.h"
#include "runtime/stream.h"

namespace hostcuda {

// call: gets the stream and returns an error.
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

}  // namespace hostcuda

#endif
