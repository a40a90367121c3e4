// Tests the dependencies of graphs' nodes, and nodes that are disabled, destroyed, or graphs
// themselves. The results are those of CUDA 13.0.
#include "support.h"

namespace {

__global__ void add_to(int* x, int value) { *x += value; }
__global__ void multiply_by(int* x, int value) { *x *= value; }
using Kernel = void (*)(int*, int);

class EdgesTest : public testing::Test {
 protected:
  void SetUp() override { EXPECT_CUDA(cudaGraphCreate(&graph_, 0)); }
  void TearDown() override { EXPECT_CUDA(cudaGraphDestroy(graph_)); }

  cudaGraphNode_t add(cudaGraph_t graph, Kernel kernel, int value,
                      std::vector<cudaGraphNode_t> after = {}) {
    int* x = x_;
    void* arguments[] = {&x, &value};
    cudaKernelNodeParams p{reinterpret_cast<void*>(kernel), {1}, {1}, 0, arguments, nullptr};
    cudaGraphNode_t node = nullptr;
    EXPECT_CUDA(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &p));
    return node;
  }
  cudaError_t connect(cudaGraphNode_t from, cudaGraphNode_t to) {
    return cudaGraphAddDependencies(graph_, &from, &to, 1);
  }
  cudaError_t disconnect(cudaGraphNode_t from, cudaGraphNode_t to) {
    return cudaGraphRemoveDependencies(graph_, &from, &to, 1);
  }
  std::size_t edges() {
    std::size_t count = 0;
    EXPECT_CUDA(cudaGraphGetEdges(graph_, nullptr, nullptr, &count));
    return count;
  }
  int result_of(cudaGraphExec_t exec, int first) {
    x_.set({first});
    EXPECT_CUDA(cudaGraphLaunch(exec, nullptr));
    EXPECT_CUDA(cudaDeviceSynchronize());
    return x_.get()[0];
  }

  DeviceArray<int> x_{1, 0};
  cudaGraph_t graph_ = nullptr;
};

TEST_F(EdgesTest, WrongDependencies) {
  cudaGraph_t other;
  EXPECT_CUDA(cudaGraphCreate(&other, 0));
  const auto a = add(graph_, add_to, 1), b = add(graph_, add_to, 2), c = add(graph_, add_to, 3),
             foreign = add(other, add_to, 4);
  EXPECT_CUDA(connect(a, b));
  EXPECT_EQ(cudaErrorInvalidValue, connect(a, a));
  EXPECT_EQ(cudaErrorInvalidValue, connect(a, b));
  EXPECT_EQ(cudaErrorInvalidValue, connect(a, foreign));
  EXPECT_EQ(cudaErrorInvalidValue, disconnect(b, c));
  cudaGraphNode_t twice[] = {a, a}, node = nullptr;
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&node, graph_, twice, 2));
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&node, graph_, &foreign, 1));
  EXPECT_CUDA(connect(b, c));
  EXPECT_CUDA(connect(c, a));  // only instantiation fails
  cudaGraphExec_t exec = nullptr;
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph_, 0));
  EXPECT_CUDA(disconnect(c, a));
  EXPECT_EQ(2u, edges());
  EXPECT_CUDA(cudaGraphInstantiate(&exec, graph_, 0));
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
  EXPECT_CUDA(cudaGraphDestroy(other));
}

TEST_F(EdgesTest, NeighboursAndDestroyedNodes) {
  const auto a = add(graph_, add_to, 1), b = add(graph_, multiply_by, 5, {a}),
             c = add(graph_, add_to, 3, {b});
  cudaGraphNode_t list[3] = {c, c, c};
  std::size_t count = 3;
  EXPECT_CUDA(cudaGraphNodeGetDependencies(b, list, &count));
  EXPECT_EQ(1u, count);
  EXPECT_EQ((std::vector<cudaGraphNode_t>{a, nullptr, nullptr}),
            std::vector<cudaGraphNode_t>(list, list + 3));
  EXPECT_CUDA(cudaGraphNodeGetDependentNodes(b, list, nullptr, &count));
  EXPECT_EQ(c, list[0]);
  EXPECT_CUDA(cudaGraphDestroyNode(b));
  EXPECT_EQ(0u, edges());
  EXPECT_CUDA(cudaGraphGetNodes(graph_, nullptr, &count));
  EXPECT_EQ(2u, count);
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphDestroyNode(nullptr));
}

TEST_F(EdgesTest, DisabledNodes) {
  const auto a = add(graph_, add_to, 3), b = add(graph_, multiply_by, 5, {a});
  cudaGraphNode_t empty;
  EXPECT_CUDA(cudaGraphAddEmptyNode(&empty, graph_, &b, 1));
  cudaGraphExec_t exec;
  EXPECT_CUDA(cudaGraphInstantiate(&exec, graph_, 0));
  EXPECT_EQ(20, result_of(exec, 1));
  EXPECT_CUDA(cudaGraphNodeSetEnabled(exec, b, 0));
  EXPECT_EQ(4, result_of(exec, 1));
  cudaGraphExecUpdateResultInfo information;
  EXPECT_CUDA(cudaGraphExecUpdate(exec, graph_, &information));
  EXPECT_EQ(4, result_of(exec, 1));
  EXPECT_CUDA(cudaGraphNodeSetEnabled(exec, b, 2));
  unsigned enabled = 0;
  EXPECT_CUDA(cudaGraphNodeGetEnabled(exec, b, &enabled));
  EXPECT_EQ(1u, enabled);
  EXPECT_EQ(20, result_of(exec, 1));
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(exec, empty, 0));
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(exec, nullptr, 0));
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
}

TEST_F(EdgesTest, TheGraphInANode) {
  cudaGraph_t child, inner = nullptr;
  EXPECT_CUDA(cudaGraphCreate(&child, 0));
  const auto first = add(child, add_to, 1), a = add(graph_, add_to, 100);
  cudaGraphNode_t node;
  EXPECT_CUDA(cudaGraphAddChildGraphNode(&node, graph_, &a, 1, child));
  EXPECT_CUDA(cudaGraphChildGraphNodeGetGraph(node, &inner));
  EXPECT_NE(child, inner);
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphDestroy(inner));
  cudaGraph_t none = nullptr;
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphChildGraphNodeGetGraph(a, &none));
  cudaGraphExec_t exec;
  add(inner, add_to, 20);
  EXPECT_CUDA(cudaGraphInstantiate(&exec, graph_, 0));
  EXPECT_EQ(121, result_of(exec, 0));
  EXPECT_EQ(cudaErrorGraphExecUpdateFailure,
            cudaGraphExecChildGraphNodeSetParams(exec, node, child));
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphExecChildGraphNodeSetParams(exec, a, child));
  const auto second = add(child, add_to, 5);
  EXPECT_CUDA(cudaGraphExecChildGraphNodeSetParams(exec, node, child));
  EXPECT_EQ(106, result_of(exec, 0));
  EXPECT_CUDA(cudaGraphAddDependencies(child, &first, &second, 1));
  EXPECT_EQ(cudaErrorGraphExecUpdateFailure,
            cudaGraphExecChildGraphNodeSetParams(exec, node, child));
  cudaGetLastError();
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
  EXPECT_CUDA(cudaGraphDestroy(child));
}

}  // namespace
