// Executable graphs.
#ifndef HOSTCUDA_SRC_GRAPHS_EXECUTABLE_H
#define HOSTCUDA_SRC_GRAPHS_EXECUTABLE_H

#include <functional>
#include <map>
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
    std::function<void()> work;
    std::vector<std::size_t> dependencies;
    bool is_enabled = true;
    unsigned branch = 0;  // for an observer's clock: nodes of one branch run one after the other
  };
  std::vector<Node> nodes;
  hostcuda::OperationPointer last = nullptr;  // end of the last launch; the next one waits for it
  std::map<const CUgraphNode_st*, std::size_t> numbers;  // maps nodes to indices in `nodes`
  std::vector<hostcuda::ConditionalHandle*> handles = {};
  std::shared_ptr<const hostcuda::ConditionValues> values = nullptr;
  hostcuda::GraphMemories allocated = {}, freed = {};
  bool frees_before_launch = false;
  std::shared_ptr<const void> instance = nullptr;  // the graph has a weak pointer to it
};

namespace hostcuda {

std::set<const CUgraphExec_st*>& executables();

}  // namespace hostcuda

#endif
