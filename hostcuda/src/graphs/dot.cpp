// cudaGraphDebugDotPrint: a graph as a file for Graphviz.
#include <fstream>
#include <map>
#include <string>

#include "graphs/graph.h"
#include "runtime/api.h"

namespace hostcuda {
namespace {

std::string kind_of(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel:
      return "KERNEL";
    case cudaGraphNodeTypeMemcpy:
      return "MEMCPY";
    case cudaGraphNodeTypeMemset:
      return "MEMSET";
    case cudaGraphNodeTypeHost:
      return "HOST";
    case cudaGraphNodeTypeGraph:
      return "CHILD GRAPH";
    case cudaGraphNodeTypeEmpty:
      return "EMPTY";
    case cudaGraphNodeTypeWaitEvent:
      return "EVENT WAIT";
    case cudaGraphNodeTypeEventRecord:
      return "EVENT RECORD";
    case cudaGraphNodeTypeMemAlloc:
      return "MEM ALLOC";
    case cudaGraphNodeTypeMemFree:
      return "MEM FREE";
    case cudaGraphNodeTypeConditional:
      return "CONDITIONAL";
  }
  return "UNKNOWN";
}

std::string text_of(dim3 size) {
  return std::to_string(size.x) + "," + std::to_string(size.y) + "," + std::to_string(size.z);
}

// The text in a node, whose lines are separated by \\n.
std::string label_of(const CUgraphNode_st& node, std::size_t number, bool is_verbose) {
  std::string label = std::to_string(number) + "\\n" + kind_of(node.type);
  if (!node.kernel) return label;
  const LaunchRequest& request = node.kernel->request;
  label += std::string("\\n") + request.site.kernel;
  if (is_verbose)
    label += "\\n<<<" + text_of(request.grid) + " | " + text_of(request.block) + " | " +
             std::to_string(request.dynamic_shared_bytes) + ">>>";
  return label;
}

class DotWriter {
 public:
  DotWriter(std::ostream& to, bool is_verbose) : to_(to), is_verbose_(is_verbose) {}

  // Writes the graph, and after it the graphs in its nodes.
  void write(const CUgraph_st& graph) {
    const std::string name = "graph_" + std::to_string(++graphs_);
    to_ << "subgraph cluster_" << graphs_ << " {\nlabel=\"" << name << "\"\n";
    std::map<const CUgraphNode_st*, std::string> names;
    for (const auto& node : graph.nodes) {
      const std::size_t number = names.size();
      names[node.get()] = "\"" + name + "_node_" + std::to_string(number) + "\"";
      to_ << names[node.get()] << " [shape=\"" << (node->kernel ? "octagon" : "box")
          << "\" label=\"" << label_of(*node, number, is_verbose_) << "\"]\n";
    }
    for (const auto& node : graph.nodes)
      for (const CUgraphNode_st* one : node->dependencies)
        to_ << names[one] << " -> " << names[node.get()] << "\n";
    to_ << "}\n";
    for (const auto& node : graph.nodes) write_graphs_of(*node, names[node.get()]);
  }

 private:
  void write_graphs_of(const CUgraphNode_st& node, const std::string& name) {
    const auto write_one = [&](const CUgraph_st& graph) {
      const int number = graphs_ + 1;
      write(graph);
      if (!graph.nodes.empty())
        to_ << name << " -> \"graph_" << number << "_node_0\" [style=\"dashed\"]\n";
    };
    if (node.child) write_one(*node.child->graph);
    if (node.conditional)
      for (const CUgraph_st* body : node.conditional->bodies) write_one(*body);
  }

  std::ostream& to_;
  bool is_verbose_;
  int graphs_ = 0;
};

}  // namespace
}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned flags) {
  HOSTCUDA_API_CALL;
  if (!graphs().contains(graph) || !path) return fail(cudaErrorInvalidValue);
  std::ofstream file(path);
  file << "digraph dot {\n";
  DotWriter(file, flags & (cudaGraphDebugDotFlagsVerbose | cudaGraphDebugDotFlagsKernelNodeParams))
      .write(*graph);
  file << "}\n";
  return file.flush() ? cudaSuccess : fail(cudaErrorOperatingSystem);
}
