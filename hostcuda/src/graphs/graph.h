// CUDA graphs, and the capture of streams that creates them.
#ifndef HOSTCUDA_SRC_GRAPHS_GRAPH_H
#define HOSTCUDA_SRC_GRAPHS_GRAPH_H

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <thread>
#include <variant>
#include <vector>

#include "graphs/graph_memory.h"
#include "hostcuda/graphs/node_api.h"

namespace hostcuda {

// The launch that a kernel's node makes.
struct KernelOfNode {
  LaunchRequest request;
  std::shared_ptr<const Work> body;
  std::vector<void*> arguments;  // the addresses of the arguments in `body`
};

// The parameters of a node that copies, fills, calls a function, or records or awaits an event.
using NodeParameters = std::variant<std::monostate, cudaMemcpy3DParms, cudaMemsetParams,
                                    cudaHostNodeParams, cudaEvent_t>;

// A value that kernels set and a node with a condition reads. A handle is never destroyed, because
// a kernel may still have its address.
struct ConditionalHandle {
  std::shared_ptr<unsigned> value;  // in the executable graph that is running
  unsigned default_value;
  bool assigns_default;  // each launch of the graph begins with the default value
  bool has_node = false;
};

// The value of a handle in one executable graph.
struct ConditionValue {
  ConditionalHandle* handle;
  std::shared_ptr<unsigned> value;
};
using ConditionValues = std::vector<ConditionValue>;

// A node with a condition, which owns its graphs.
struct Conditional {
  const ConditionalHandle* handle;
  cudaGraphConditionalNodeType type;
  std::vector<cudaGraph_t> bodies;
  ~Conditional();
};

// The graph in a node, which is a copy of the graph that the program gave.
struct ChildGraph {
  explicit ChildGraph(const CUgraph_st& original);
  ~ChildGraph();
  ChildGraph(const ChildGraph&) = delete;
  ChildGraph& operator=(const ChildGraph&) = delete;

  cudaGraph_t graph;
};

}  // namespace hostcuda

struct CUgraphNode_st {
  cudaGraphNodeType type;
  std::function<void()> work;  // empty for a node that has graphs
  std::vector<CUgraphNode_st*> dependencies;
  std::shared_ptr<const hostcuda::KernelOfNode> kernel = nullptr;
  std::shared_ptr<const hostcuda::Conditional> conditional = nullptr;
  std::shared_ptr<const hostcuda::ChildGraph> child = nullptr;
  std::shared_ptr<hostcuda::GraphMemory> memory = nullptr;  // allocated or freed by this node
  hostcuda::NodeParameters parameters = {};
  // Nodes are numbered in the order in which they are made. 0: this node is not a copy.
  std::uint64_t number = 0, number_of_original = 0;
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  std::vector<hostcuda::ConditionalHandle*> handles;
  std::weak_ptr<const void> instance;  // expires when no executable of the graph exists
  bool belongs_to_node = false;        // which destroys it

  CUgraphNode_st* add(cudaGraphNodeType type, std::function<void()> work,
                      std::vector<CUgraphNode_st*> dependencies);
  // Returns each node after its dependencies. If there is a cycle, some nodes are missing.
  std::vector<CUgraphNode_st*> in_order() const;
  bool contains(const CUgraphNode_st* node) const;
};

namespace hostcuda {

std::set<const CUgraph_st*>& graphs();
cudaGraph_t new_graph();
cudaGraph_t copy_of(const CUgraph_st& original);
void destroy_graph(cudaGraph_t graph);

// Returns the graph of a node; null if no graph has it.
CUgraph_st* graph_of(const CUgraphNode_st* node);
// True if a node of the graph may have these dependencies: different nodes of the same graph.
bool are_dependencies(const CUgraph_st& graph, const cudaGraphNode_t* nodes, std::size_t count);
// Writes the nodes into the program's list, which has room for `count`, and null pointers into the
// rest of it. Sets the count to their number.
void write_list(const std::vector<cudaGraphNode_t>& found, cudaGraphNode_t* nodes,
                std::size_t& count);

using Works = std::vector<std::function<void()>>;
void run_all(const Works& works);
// Returns what the node does when it runs, with the present content of the node's graphs.
std::function<void()> work_of(const CUgraphNode_st& node);
// Returns what the nodes do, in an order in which they can run, preceded by the default values of
// the graph's handles.
Works works_of(const CUgraph_st& graph);
// Returns work that sets the handles of a graph to their default values.
std::function<void()> set_default_values(const std::vector<ConditionalHandle*>& handles);
// Makes new values for the handles of a graph and of its nodes' graphs.
ConditionValues new_values(const CUgraph_st& graph);
// Makes the values those of the executable graph that is running. One operation runs at a time.
void select_values(const ConditionValues& values);
// False if a graph of a node with a condition has nodes of types that CUDA does not permit there.
bool has_valid_bodies(const CUgraph_st& graph);
// Appends one operation that does all the work of a graph, in the order of `works`.
void enqueue_graph(CUstream_st& stream, const Works& works);

// Attaches the parameters to the node that the stream has just captured, if it is captured.
void describe_node(const CUstream_st& stream, const NodeParameters& parameters);
// Attaches the launch to the node that the stream has just captured.
void describe_kernel_node(const CUstream_st& stream, const LaunchRequest& request,
                          std::shared_ptr<const Work> body);

// A capture of operations. One stream started the capture; others may have joined it by waiting for
// an event.
struct Capture {
  CUgraph_st* graph;
  CUstream_st* origin;
  bool valid = true;
  std::vector<CUstream_st*> streams;
  std::vector<CUgraphNode_st*> ends = {};  // last nodes of streams that were destroyed
  bool owns_graph = true;                  // the graph is new, not the program's
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread = std::this_thread::get_id();  // began the capture
};

// Takes a stream that is being destroyed out of its capture, which continues without the stream.
void leave_capture(CUstream_st& stream);

// Makes events that were recorded in the capture usable again outside it.
void end_capture_of_events(const Capture* capture);

// Returns cudaSuccess, or the reason why no operation may be appended to the stream. During a
// capture, no operation may be appended to the default stream, because such an operation would wait
// for the captured streams.
cudaError_t capture_error(const CUstream_st& stream);

// The first function rejects a call that waits for a captured stream; the second function rejects a
// call that waits for all streams while any capture is active. Such a call invalidates the capture.
cudaError_t refuse_waiting(CUstream_st& stream);
cudaError_t refuse_waiting_for_all();
// Rejects cudaMalloc and cudaFree, as the modes of the captures require. A capture in relaxed mode
// allows them, and one of another thread in thread-local mode.
cudaError_t refuse_unsafe_call();

}  // namespace hostcuda

#endif
