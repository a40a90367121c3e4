// Tests graphs' nodes that record events or wait for them.
#include "support.h"

namespace {

__global__ void double_it(int* x) { *x *= 2; }
__global__ void add_one(int* x) { *x += 1; }

class EventNodes : public testing::Test {
 protected:
  void SetUp() override { EXPECT_CUDA(cudaGraphCreate(&graph, 0)); }
  void TearDown() override {
    EXPECT_CUDA(cudaGraphDestroy(graph));
    cudaGetLastError();
  }
  cudaGraphNode_t add_kernel(void* kernel, std::vector<cudaGraphNode_t> after) {
    int* pointer = x;
    void* arguments[] = {&pointer};
    const cudaKernelNodeParams p{kernel, {1}, {1}, 0, arguments, nullptr};
    cudaGraphNode_t node = nullptr;
    EXPECT_CUDA(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &p));
    return node;
  }
  void launch(cudaStream_t stream) {
    cudaGraphExec_t exec = nullptr;
    EXPECT_CUDA(cudaGraphInstantiate(&exec, graph));
    EXPECT_CUDA(cudaGraphLaunch(exec, stream));
    EXPECT_CUDA(cudaGraphExecDestroy(exec));
  }
  cudaGraph_t graph = nullptr;
  DeviceArray<int> x{1, 3};
};

TEST_F(EventNodes, AnotherStreamWaitsForARecordingInAGraph) {
  const Stream stream{cudaStreamNonBlocking}, other{cudaStreamNonBlocking};
  const Event event;
  const cudaGraphNode_t kernel = add_kernel((void*)double_it, {});
  cudaGraphNode_t node = nullptr;
  EXPECT_CUDA(cudaGraphAddEventRecordNode(&node, graph, &kernel, 1, event));
  cudaGraphNodeType type = cudaGraphNodeTypeKernel;
  EXPECT_CUDA(cudaGraphNodeGetType(node, &type));
  EXPECT_EQ(cudaGraphNodeTypeEventRecord, type);
  cudaEvent_t of_node = nullptr;
  EXPECT_CUDA(cudaGraphEventRecordNodeGetEvent(node, &of_node));
  EXPECT_EQ(event.handle, of_node);
  launch(stream);
  EXPECT_CUDA(cudaStreamWaitEvent(other, event));
  add_one<<<1, 1, 0, other>>>(x);
  EXPECT_CUDA(cudaStreamSynchronize(other));
  EXPECT_EQ(7, x.get()[0]);
  EXPECT_CUDA(cudaEventQuery(event));
}

TEST_F(EventNodes, AGraphWaitsForAnotherStream) {
  const Stream stream{cudaStreamNonBlocking}, other{cudaStreamNonBlocking};
  const Event event;
  cudaGraphNode_t node = nullptr;
  EXPECT_CUDA(cudaGraphAddEventWaitNode(&node, graph, nullptr, 0, event));
  add_kernel((void*)add_one, {node});
  double_it<<<1, 1, 0, other>>>(x);
  EXPECT_CUDA(cudaEventRecord(event, other));
  launch(stream);
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_EQ(7, x.get()[0]);
}

TEST_F(EventNodes, TimesPartsOfAGraph) {
  const Event begin, end, unused;
  cudaGraphNode_t first = nullptr, last = nullptr;
  EXPECT_CUDA(cudaGraphAddEventRecordNode(&first, graph, nullptr, 0, begin));
  const cudaGraphNode_t kernel = add_kernel((void*)double_it, {first});
  EXPECT_CUDA(cudaGraphAddEventRecordNode(&last, graph, &kernel, 1, unused));
  EXPECT_CUDA(cudaGraphEventRecordNodeSetEvent(last, end));
  launch(nullptr);
  EXPECT_CUDA(cudaEventSynchronize(end));
  float milliseconds = -1;
  EXPECT_CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
  EXPECT_LE(0, milliseconds);
}

TEST_F(EventNodes, OfAnExecutableCanBeChanged) {
  const Event first, second;
  cudaGraphNode_t node = nullptr;
  EXPECT_CUDA(cudaGraphAddEventRecordNode(&node, graph, nullptr, 0, first));
  cudaGraphExec_t exec = nullptr;
  EXPECT_CUDA(cudaGraphInstantiate(&exec, graph));
  EXPECT_CUDA(cudaGraphExecEventRecordNodeSetEvent(exec, node, second));
  EXPECT_CUDA(cudaGraphLaunch(exec, nullptr));
  EXPECT_CUDA(cudaDeviceSynchronize());
  float milliseconds = -1;
  EXPECT_CUDA(cudaEventElapsedTime(&milliseconds, second, second));
  EXPECT_EQ(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, first, second));
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphExecEventWaitNodeSetEvent(exec, node, second));
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
}

class EventNodesOfAChild : public EventNodes {
 protected:
  void SetUp() override {
    EventNodes::SetUp();
    EXPECT_CUDA(cudaGraphCreate(&outer, 0));
  }
  void TearDown() override {
    EXPECT_CUDA(cudaGraphDestroy(outer));
    EventNodes::TearDown();
  }
  // Launches a graph with the graph as its only node.
  void launch_outer(cudaStream_t stream) {
    cudaGraphNode_t node = nullptr;
    EXPECT_CUDA(cudaGraphAddChildGraphNode(&node, outer, nullptr, 0, graph));
    std::swap(graph, outer);
    launch(stream);
    std::swap(graph, outer);
  }
  cudaGraph_t outer = nullptr;
};

TEST_F(EventNodesOfAChild, AreAwaitedByAnotherStream) {
  const Stream stream{cudaStreamNonBlocking}, other{cudaStreamNonBlocking};
  const Event begin, end;
  cudaGraphNode_t first = nullptr, last = nullptr;
  EXPECT_CUDA(cudaGraphAddEventRecordNode(&first, graph, nullptr, 0, begin));
  const cudaGraphNode_t kernel = add_kernel((void*)double_it, {first});
  EXPECT_CUDA(cudaGraphAddEventRecordNode(&last, graph, &kernel, 1, end));
  launch_outer(stream);
  EXPECT_CUDA(cudaStreamWaitEvent(other, end));
  add_one<<<1, 1, 0, other>>>(x);
  EXPECT_CUDA(cudaStreamSynchronize(other));
  EXPECT_EQ(7, x.get()[0]);
  float milliseconds = 0;
  EXPECT_CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
  EXPECT_LT(0, milliseconds);
}

TEST_F(EventNodesOfAChild, WaitForTheRecordingBeforeTheLaunch) {
  const Stream stream{cudaStreamNonBlocking}, other{cudaStreamNonBlocking};
  const Event event;
  cudaGraphNode_t node = nullptr, again = nullptr;
  EXPECT_CUDA(cudaGraphAddEventWaitNode(&node, graph, nullptr, 0, event));
  const cudaGraphNode_t kernel = add_kernel((void*)add_one, {node});
  EXPECT_CUDA(cudaGraphAddEventRecordNode(&again, graph, &kernel, 1, event));
  EXPECT_CUDA(cudaGraphAddEventWaitNode(&node, graph, &again, 1, event));
  double_it<<<1, 1, 0, other>>>(x);
  EXPECT_CUDA(cudaEventRecord(event, other));
  launch_outer(stream);
  EXPECT_CUDA(cudaEventRecord(event, stream));  // the graph must not wait for this one
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_EQ(7, x.get()[0]);
}

TEST_F(EventNodes, AreCapturedWithTheExternalFlags) {
  const Stream stream;
  const Event event;
  EXPECT_EQ(cudaErrorInvalidValue,
            cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
  EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_CUDA(cudaStreamWaitEvent(stream, event, cudaEventWaitExternal));
  EXPECT_CUDA(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
  cudaGraph_t captured = nullptr;
  EXPECT_CUDA(cudaStreamEndCapture(stream, &captured));
  cudaGraphNode_t nodes[2];
  std::size_t count = 2;
  EXPECT_CUDA(cudaGraphGetNodes(captured, nodes, &count));
  cudaEvent_t found = nullptr;
  EXPECT_CUDA(cudaGraphEventWaitNodeGetEvent(nodes[0], &found));
  EXPECT_EQ(event.handle, found);
  EXPECT_CUDA(cudaGraphEventRecordNodeGetEvent(nodes[1], &found));
  EXPECT_EQ(event.handle, found);
  EXPECT_CUDA(cudaGraphDestroy(captured));
}

}  // namespace
