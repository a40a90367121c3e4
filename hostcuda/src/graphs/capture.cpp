// The capture of streams, which makes nodes of their operations.
#include <algorithm>
#include <memory>
#include <utility>

#include "graphs/graph.h"
#include "runtime/api.h"
#include "runtime/stream.h"

namespace hostcuda {
namespace {

std::vector<std::unique_ptr<Capture>>& captures() {
  static auto* list = new std::vector<std::unique_ptr<Capture>>;
  return *list;
}

// True if the last operations of the stream that began the capture depend on the last operations of
// all other streams.
bool all_joined(const Capture& capture) {
  std::vector<CUgraphNode_st*> todo = capture.origin->captured;
  std::set<const CUgraphNode_st*> reached;
  while (!todo.empty()) {
    CUgraphNode_st* node = todo.back();
    todo.pop_back();
    if (!reached.insert(node).second) continue;
    todo.insert(todo.end(), node->dependencies.begin(), node->dependencies.end());
  }
  const auto are_reached = [&](const std::vector<CUgraphNode_st*>& nodes) {
    return std::ranges::all_of(nodes, [&](const auto* node) { return reached.contains(node); });
  };
  return are_reached(capture.ends) && std::ranges::all_of(capture.streams, [&](const auto* stream) {
           return are_reached(stream->captured);
         });
}

// Ends the capture and returns its graph, or null if the graph was destroyed because it is wrong.
cudaGraph_t end_capture(Capture& capture, bool is_good) {
  cudaGraph_t graph = capture.graph;
  for (CUstream_st* one : capture.streams) one->capture = nullptr;
  end_capture_of_events(&capture);
  if (!is_good && capture.owns_graph) {
    destroy_graph(graph);
    graph = nullptr;
  }
  std::erase_if(captures(), [&](const auto& one) { return one.get() == &capture; });
  return graph;
}

cudaError_t begin_capture(CUstream_st& stream, cudaGraph_t graph, bool owns_graph,
                          std::vector<CUgraphNode_st*> dependencies, cudaStreamCaptureMode mode) {
  captures().push_back(
      std::make_unique<Capture>(Capture{graph, &stream, true, {&stream}, {}, owns_graph, mode}));
  stream.capture = captures().back().get();
  stream.captured = std::move(dependencies);
  return cudaSuccess;
}

cudaError_t reason_against_capture(const CUstream_st& stream) {
  if (is_default(stream)) return cudaErrorStreamCaptureUnsupported;
  return stream.capture ? cudaErrorIllegalState : cudaSuccess;
}

}  // namespace

void leave_capture(CUstream_st& stream) {
  Capture& capture = *stream.capture;
  if (capture.origin == &stream) {
    end_capture(capture, false);
    return;
  }
  capture.ends.insert(capture.ends.end(), stream.captured.begin(), stream.captured.end());
  std::erase(capture.streams, &stream);
  stream.capture = nullptr;
}

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

namespace {

thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;

}  // namespace

cudaError_t refuse_unsafe_call() {
  if (mode_of_thread == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  cudaError_t error = cudaSuccess;
  for (const auto& capture : captures()) {
    const bool is_own = capture->thread == std::this_thread::get_id();
    if (capture->mode == cudaStreamCaptureModeRelaxed ||
        (!is_own && (capture->mode == cudaStreamCaptureModeThreadLocal ||
                     mode_of_thread == cudaStreamCaptureModeThreadLocal)))
      continue;
    capture->valid = false;
    error = cudaErrorStreamCaptureUnsupported;
  }
  return error;
}

}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  HOSTCUDA_API_CALL;
  if (!mode || *mode > cudaStreamCaptureModeRelaxed) return fail(cudaErrorInvalidValue);
  std::swap(*mode, mode_of_thread);
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  HOSTCUDA_API_CALL_ON(handle);
  if (mode > cudaStreamCaptureModeRelaxed) return fail(cudaErrorInvalidValue);
  if (const cudaError_t error = reason_against_capture(*stream)) return fail(error);
  return begin_capture(*stream, new_graph(), true, {}, mode);
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t handle, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData*, std::size_t count,
                                          cudaStreamCaptureMode mode) {
  HOSTCUDA_API_CALL_ON(handle);
  if (mode > cudaStreamCaptureModeRelaxed) return fail(cudaErrorInvalidValue);
  if (!graphs().contains(graph) || !are_dependencies(*graph, dependencies, count))
    return fail(cudaErrorInvalidValue);
  if (const cudaError_t error = reason_against_capture(*stream)) return fail(error);
  return begin_capture(*stream, graph, false, {dependencies, dependencies + count}, mode);
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  HOSTCUDA_API_CALL_ON(handle);
  if (graph) *graph = nullptr;
  if (!stream->capture) return fail(cudaErrorIllegalState);
  Capture& capture = *stream->capture;
  if (!graph && capture.owns_graph) return fail(cudaErrorInvalidValue);
  if (capture.origin != stream) {
    capture.valid = false;
    return fail(cudaErrorStreamCaptureUnmatched);
  }
  const cudaError_t error = !capture.valid         ? cudaErrorStreamCaptureInvalidated
                            : !all_joined(capture) ? cudaErrorStreamCaptureUnjoined
                                                   : cudaSuccess;
  cudaGraph_t captured = end_capture(capture, !error);
  if (error) return fail(error);
  if (graph) *graph = captured;
  return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id) {
  return cudaStreamGetCaptureInfo(handle, status, id, nullptr);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, std::size_t* count) {
  HOSTCUDA_API_CALL_ON(handle);
  if (!status) return fail(cudaErrorInvalidValue);
  *status = !stream->capture         ? cudaStreamCaptureStatusNone
            : stream->capture->valid ? cudaStreamCaptureStatusActive
                                     : cudaStreamCaptureStatusInvalidated;
  if (id) *id = reinterpret_cast<unsigned long long>(stream->capture);
  if (*status != cudaStreamCaptureStatusActive) return cudaSuccess;
  if (graph) *graph = stream->capture->graph;
  if (dependencies) *dependencies = stream->captured.data();
  if (edges) *edges = nullptr;
  if (count) *count = stream->captured.size();
  return cudaSuccess;
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData*, std::size_t count,
                                                unsigned flags) {
  HOSTCUDA_API_CALL_ON(handle);
  if (!stream->capture) return fail(cudaErrorIllegalState);
  if ((count && !dependencies) || flags > cudaStreamSetCaptureDependencies)
    return fail(cudaErrorInvalidValue);
  // The array may be the one that cudaStreamGetCaptureInfo returned.
  const std::vector<cudaGraphNode_t> more(dependencies, dependencies + count);
  if (flags == cudaStreamSetCaptureDependencies) stream->captured.clear();
  stream->captured.insert(stream->captured.end(), more.begin(), more.end());
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(stream, status);
}
