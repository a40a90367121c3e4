// Executable graphs.
#ifndef HOSTCUDA_SRC_GRAPHS_EXECUTABLE_H
#define HOSTCUDA_SRC_GRAPHS_EXECUTABLE_H

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "graphs/graph.h"
#include "runtime/stream.h"

// An executable graph: its nodes, in an order in which they can run, and the indices of their
// dependencies.
struct CUgraphExec_st {
  struct Node {
    cudaGraphNodeType type;
    const CUgraphNode_st* origin;  // the node of the graph that was instantiated
    std::function<void()> work;
    std::vector<std::size_t> dependencies = {};
    std::vector<Node> children = {};  // the nodes of a child graph, in an order in which they run
    cudaEvent_t event = nullptr;      // recorded or awaited by this node
    bool is_enabled = true;
    unsigned branch = 0;  // for an observer's clock: nodes of one branch run one after the other
  };
  std::vector<Node> nodes;
  hostcuda::OperationPointer last = nullptr;  // end of the last launch; the next one waits for it
  std::vector<hostcuda::ConditionalHandle*> handles = {};
  std::shared_ptr<const hostcuda::ConditionValues> values = nullptr;
  hostcuda::GraphMemories allocated = {}, freed = {};
  unsigned long long flags = 0;                    // of cudaGraphInstantiate
  std::shared_ptr<const void> instance = nullptr;  // the graph has a weak pointer to it
};

namespace hostcuda {

using ExecutableNodes = std::vector<CUgraphExec_st::Node>;

std::set<const CUgraphExec_st*>& executables();
// Returns the nodes of a graph and of its child graphs.
ExecutableNodes executable_nodes(const CUgraph_st& graph);
// Returns the node of the executable graph, or of a child graph in it, that stands for the node of
// the graph that was instantiated; null if it has no such node.
CUgraphExec_st::Node* find_node(cudaGraphExec_t exec, const CUgraphNode_st* origin);
// Says whether nodes can replace others: they need the same types and dependencies.
cudaGraphExecUpdateResult compare(const ExecutableNodes& nodes, const ExecutableNodes& others);
// Gives the nodes what does not change when they replace others.
void keep_identity(ExecutableNodes& nodes, const ExecutableNodes& replaced);

}  // namespace hostcuda

#endif
