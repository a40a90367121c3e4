// Tests the parameters of graphs' nodes, the nodes of clones and of child graphs, and the file for
// Graphviz.
#include <fstream>
#include <sstream>

#include "support.h"

namespace {

__global__ void add_number(int* x, int value) { *x += value; }

class ParametersTest : public testing::Test {
 protected:
  void SetUp() override { EXPECT_CUDA(cudaGraphCreate(&graph, 0)); }
  void TearDown() override {
    EXPECT_CUDA(cudaGraphDestroy(graph));
    cudaGetLastError();
  }
  cudaGraphNode_t add_kernel(cudaGraph_t to, int value) {
    cudaGraphNode_t node = nullptr;
    with_kernel(value, [&](const cudaKernelNodeParams& p) {
      EXPECT_CUDA(cudaGraphAddKernelNode(&node, to, nullptr, 0, &p));
    });
    return node;
  }
  template <class Use>
  void with_kernel(int value, const Use& use) {
    int* pointer = x;
    void* arguments[] = {&pointer, &value};
    use(cudaKernelNodeParams{(void*)add_number, {1}, {1}, 0, arguments, nullptr});
  }
  int launch(cudaGraphExec_t exec) {
    x.set({0});
    EXPECT_CUDA(cudaGraphLaunch(exec, nullptr));
    EXPECT_CUDA(cudaDeviceSynchronize());
    return x.get()[0];
  }
  int result() {
    cudaGraphExec_t exec = nullptr;
    EXPECT_CUDA(cudaGraphInstantiate(&exec, graph));
    const int got = launch(exec);
    EXPECT_CUDA(cudaGraphExecDestroy(exec));
    return got;
  }
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  DeviceArray<int> x{1};
};

TEST_F(ParametersTest, OfCopies) {
  int first = 5, second = 7;
  EXPECT_CUDA(
      cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, x, &first, 4, cudaMemcpyHostToDevice));
  cudaMemcpy3DParms p{};
  EXPECT_CUDA(cudaGraphMemcpyNodeGetParams(node, &p));
  EXPECT_EQ(&first, p.srcPtr.ptr);
  EXPECT_EQ(x, p.dstPtr.ptr);
  EXPECT_EQ(4u, p.extent.width);
  EXPECT_EQ(cudaMemcpyHostToDevice, p.kind);
  EXPECT_EQ(5, result());
  p.srcPtr.ptr = &second;
  EXPECT_CUDA(cudaGraphMemcpyNodeSetParams(node, &p));
  EXPECT_EQ(7, result());
  EXPECT_CUDA(cudaGraphMemcpyNodeGetParams(node, &p));
  EXPECT_EQ(&second, p.srcPtr.ptr);
  EXPECT_CUDA(cudaGraphMemcpyNodeSetParams1D(node, x, &first, 4, cudaMemcpyHostToDevice));
  EXPECT_EQ(5, result());
  cudaMemsetParams fill{};
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphMemsetNodeGetParams(node, &fill));
}

TEST_F(ParametersTest, OfFills) {
  cudaMemsetParams p{x, 0, 0x01020304, 4, 1, 1}, got{};
  EXPECT_CUDA(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &p));
  EXPECT_EQ(0x01020304, result());
  p.value = 6;
  EXPECT_CUDA(cudaGraphMemsetNodeSetParams(node, &p));
  EXPECT_EQ(6, result());
  EXPECT_CUDA(cudaGraphMemsetNodeGetParams(node, &got));
  EXPECT_EQ(x, got.dst);
  EXPECT_EQ(6u, got.value);
  EXPECT_EQ(4u, got.elementSize);
  p.elementSize = 3;
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphMemsetNodeSetParams(node, &p));
  EXPECT_EQ(6, result());
}

TEST_F(ParametersTest, OfHostFunctions) {
  int calls = 0;
  const auto add_one = [](void* count) { ++*static_cast<int*>(count); };
  const auto add_ten = [](void* count) { *static_cast<int*>(count) += 10; };
  cudaHostNodeParams p{add_one, &calls}, got{};
  EXPECT_CUDA(cudaGraphAddHostNode(&node, graph, nullptr, 0, &p));
  result();
  EXPECT_EQ(1, calls);
  p.fn = add_ten;
  EXPECT_CUDA(cudaGraphHostNodeSetParams(node, &p));
  EXPECT_CUDA(cudaGraphHostNodeGetParams(node, &got));
  EXPECT_EQ(p.fn, got.fn);
  EXPECT_EQ(&calls, got.userData);
  result();
  EXPECT_EQ(11, calls);
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphHostNodeGetParams(nullptr, &got));
}

TEST_F(ParametersTest, OfCapturedOperations) {
  const Stream stream;
  int value = 4, back = 0;
  EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_CUDA(cudaMemsetAsync(x, 1, 4, stream));
  EXPECT_CUDA(cudaMemcpyAsync(&back, x, 4, cudaMemcpyDeviceToHost, stream));
  cudaGraph_t captured = nullptr;
  EXPECT_CUDA(cudaStreamEndCapture(stream, &captured));
  cudaGraphNode_t nodes[2];
  std::size_t count = 2;
  EXPECT_CUDA(cudaGraphGetNodes(captured, nodes, &count));
  cudaMemsetParams fill{};
  cudaMemcpy3DParms copy{};
  EXPECT_CUDA(cudaGraphMemsetNodeGetParams(nodes[0], &fill));
  EXPECT_CUDA(cudaGraphMemcpyNodeGetParams(nodes[1], &copy));
  EXPECT_EQ(x, fill.dst);
  EXPECT_EQ(4u, fill.width * fill.elementSize);
  EXPECT_EQ(&back, copy.dstPtr.ptr);
  copy.dstPtr.ptr = &value;
  EXPECT_CUDA(cudaGraphMemcpyNodeSetParams(nodes[1], &copy));
  cudaGraphExec_t exec = nullptr;
  EXPECT_CUDA(cudaGraphInstantiate(&exec, captured));
  launch(exec);
  EXPECT_EQ(0x01010101, value);
  EXPECT_EQ(0, back);
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
  EXPECT_CUDA(cudaGraphDestroy(captured));
}

TEST_F(ParametersTest, OfNodesOfAnyType) {
  node = add_kernel(graph, 3);
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeKernel;
  with_kernel(4, [&](const cudaKernelNodeParams& kernel) {
    p.kernel = kernel;
    EXPECT_CUDA(cudaGraphNodeSetParams(node, &p));
  });
  cudaGraphExec_t exec = nullptr;
  EXPECT_CUDA(cudaGraphInstantiate(&exec, graph));
  EXPECT_EQ(4, launch(exec));
  with_kernel(5, [&](const cudaKernelNodeParams& kernel) {
    p.kernel = kernel;
    EXPECT_CUDA(cudaGraphExecNodeSetParams(exec, node, &p));
  });
  EXPECT_EQ(5, launch(exec));
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
}

TEST_F(ParametersTest, ANodeIsFoundInAClone) {
  const cudaGraphNode_t first = add_kernel(graph, 1), second = add_kernel(graph, 2);
  cudaGraph_t clone = nullptr;
  EXPECT_CUDA(cudaGraphClone(&clone, graph));
  cudaGraphNode_t copies[2], found = nullptr;
  std::size_t count = 2;
  EXPECT_CUDA(cudaGraphGetNodes(clone, copies, &count));
  EXPECT_CUDA(cudaGraphNodeFindInClone(&found, second, clone));
  EXPECT_EQ(copies[1], found);
  EXPECT_CUDA(cudaGraphNodeFindInClone(&found, first, clone));
  EXPECT_EQ(copies[0], found);
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphNodeFindInClone(&found, first, graph));
  EXPECT_CUDA(cudaGraphDestroyNode(copies[1]));
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphNodeFindInClone(&found, second, clone));
  EXPECT_CUDA(cudaGraphDestroy(clone));
}

TEST_F(ParametersTest, NodesOfChildGraphsInExecutables) {
  cudaGraph_t child = nullptr, outer_child = nullptr, copy = nullptr;
  EXPECT_CUDA(cudaGraphCreate(&child, 0));
  EXPECT_CUDA(cudaGraphCreate(&outer_child, 0));
  add_kernel(child, 1);
  EXPECT_CUDA(cudaGraphAddChildGraphNode(&node, outer_child, nullptr, 0, child));
  EXPECT_CUDA(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, outer_child));
  add_kernel(graph, 100);
  EXPECT_CUDA(cudaGraphChildGraphNodeGetGraph(node, &copy));
  cudaGraphNode_t inner = nullptr, kernel = nullptr;
  std::size_t count = 1;
  EXPECT_CUDA(cudaGraphGetNodes(copy, &inner, &count));
  EXPECT_CUDA(cudaGraphChildGraphNodeGetGraph(inner, &copy));
  EXPECT_CUDA(cudaGraphGetNodes(copy, &kernel, &count));

  cudaGraphExec_t exec = nullptr;
  EXPECT_CUDA(cudaGraphInstantiate(&exec, graph));
  EXPECT_EQ(101, launch(exec));
  with_kernel(20, [&](const cudaKernelNodeParams& p) {
    EXPECT_CUDA(cudaGraphExecKernelNodeSetParams(exec, kernel, &p));
  });
  EXPECT_EQ(120, launch(exec));
  EXPECT_CUDA(cudaGraphNodeSetEnabled(exec, kernel, 0));
  EXPECT_EQ(100, launch(exec));
  EXPECT_CUDA(cudaGraphNodeSetEnabled(exec, kernel, 1));
  EXPECT_CUDA(cudaGraphExecChildGraphNodeSetParams(exec, inner, child));
  EXPECT_EQ(101, launch(exec));
  EXPECT_EQ(101, result());  // the graph has not changed
  cudaGraphExecUpdateResultInfo information;
  EXPECT_CUDA(cudaGraphExecUpdate(exec, graph, &information));
  with_kernel(30, [&](const cudaKernelNodeParams& p) {
    EXPECT_CUDA(cudaGraphExecKernelNodeSetParams(exec, kernel, &p));
  });
  EXPECT_EQ(130, launch(exec));
  add_kernel(copy, 5);
  EXPECT_EQ(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, graph, &information));
  EXPECT_EQ(cudaGraphExecUpdateErrorTopologyChanged, information.result);
  for (cudaGraph_t one : {child, outer_child}) EXPECT_CUDA(cudaGraphDestroy(one));
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
}

TEST_F(ParametersTest, ExecutablesKnowTheirFlags) {
  cudaGraphExec_t exec = nullptr;
  EXPECT_CUDA(cudaGraphInstantiate(
      &exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload));
  unsigned long long flags = 0;
  EXPECT_CUDA(cudaGraphExecGetFlags(exec, &flags));
  EXPECT_EQ(cudaGraphInstantiateFlagAutoFreeOnLaunch, flags);
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
}

TEST_F(ParametersTest, OfAnInstantiationReceiveItsResult) {
  const cudaGraphNode_t kernel = add_kernel(graph, 3), other = add_kernel(graph, 4);
  const Stream stream;
  cudaGraphInstantiateParams p{cudaGraphInstantiateFlagUpload, stream, kernel,
                               cudaGraphInstantiateError};
  cudaGraphExec_t exec = nullptr;
  EXPECT_CUDA(cudaGraphInstantiateWithParams(&exec, graph, &p));
  EXPECT_EQ(cudaGraphInstantiateSuccess, p.result_out);
  EXPECT_EQ(nullptr, p.errNode_out);
  EXPECT_EQ(7, launch(exec));
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
  p.uploadStream = reinterpret_cast<cudaStream_t>(&p);
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphInstantiateWithParams(&exec, graph, &p));
  EXPECT_EQ(cudaGraphInstantiateError, p.result_out);
  p.flags = 0;  // so the stream is not used
  EXPECT_CUDA(cudaGraphInstantiateWithParams(&exec, graph, &p));
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
  EXPECT_CUDA(cudaGraphAddDependencies(graph, &kernel, &other, 1));
  EXPECT_CUDA(cudaGraphAddDependencies(graph, &other, &kernel, 1));
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphInstantiateWithParams(&exec, graph, &p));
  EXPECT_EQ(cudaGraphInstantiateInvalidStructure, p.result_out);
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphInstantiateWithParams(&exec, graph, nullptr));
}

TEST_F(ParametersTest, AreDrawn) {
  const cudaGraphNode_t kernel = add_kernel(graph, 1);
  cudaMemsetParams p{x, 0, 0, 4, 1, 1};
  EXPECT_CUDA(cudaGraphAddMemsetNode(&node, graph, &kernel, 1, &p));
  const std::string path = testing::TempDir() + "hostcuda_graph.dot";
  EXPECT_CUDA(cudaGraphDebugDotPrint(graph, path.c_str(), cudaGraphDebugDotFlagsVerbose));
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(0u, text.str().find("digraph dot {\n"));
  for (const char* part : {"\"0\\nKERNEL\\nadd_number\\n<<<1,1,1 | 1,1,1 | 0>>>\"",
                           "\"1\\nMEMSET\"", "\"graph_1_node_0\" -> \"graph_1_node_1\""})
    EXPECT_NE(std::string::npos, text.str().find(part)) << part << " in\n" << text.str();
  EXPECT_EQ(0, std::remove(path.c_str()));
  EXPECT_EQ(cudaErrorOperatingSystem, cudaGraphDebugDotPrint(graph, "/no/such/folder/a.dot", 0));
}

}  // namespace
