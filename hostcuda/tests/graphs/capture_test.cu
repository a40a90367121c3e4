// Tests CUDA graphs, both captured from streams and built by hand.
#include <thread>

#include "support.h"

namespace {

__global__ void add(int* x, int value) { x[threadIdx.x] += value; }
__global__ void multiply(int* x, int value) { x[threadIdx.x] *= value; }
__global__ void sum_of(int* out, const int* a, const int* b) {
  out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

constexpr int kThreads = 32;

class GraphTest : public testing::Test {
 protected:
  void TearDown() override {
    if (exec_) {
      EXPECT_CUDA(cudaGraphExecDestroy(exec_));
    }
    if (graph_) {
      EXPECT_CUDA(cudaGraphDestroy(graph_));
    }
  }
  void begin() { EXPECT_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal)); }
  void end() { EXPECT_CUDA(cudaStreamEndCapture(stream_, &graph_)); }
  void instantiate() { EXPECT_CUDA(cudaGraphInstantiate(&exec_, graph_, 0)); }
  void launch() { EXPECT_CUDA(cudaGraphLaunch(exec_, stream_)); }
  void launch_and_wait() {
    launch();
    wait();
  }
  void wait() { EXPECT_CUDA(cudaStreamSynchronize(stream_)); }
  std::vector<int> all(int value) const { return std::vector<int>(kThreads, value); }

  DeviceArray<int> a_{kThreads, 1}, b_{kThreads, 2};
  const Stream stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

TEST_F(GraphTest, CaptureRunsNothingAndLaunchesRunItAgain) {
  begin();
  add<<<1, kThreads, 0, stream_>>>(a_, 1);
  multiply<<<1, kThreads, 0, stream_>>>(a_, 2);
  cudaStreamCaptureStatus status;
  EXPECT_CUDA(cudaStreamIsCapturing(stream_, &status));
  EXPECT_EQ(cudaStreamCaptureStatusActive, status);
  end();
  EXPECT_EQ(all(1), a_.get());
  instantiate();
  for (int i = 0; i < 3; ++i) launch();
  wait();
  EXPECT_EQ(all(22), a_.get());
}

TEST_F(GraphTest, OtherStreamsJoinByEvents) {
  const Stream other;
  const Event fork, join;
  DeviceArray<int> out(kThreads, 0);
  begin();
  add<<<1, kThreads, 0, stream_>>>(a_, 1);
  EXPECT_CUDA(cudaEventRecord(fork, stream_));
  EXPECT_CUDA(cudaStreamWaitEvent(other, fork));
  sum_of<<<1, kThreads, 0, other>>>(b_, a_, b_);
  multiply<<<1, kThreads, 0, stream_>>>(out, 0);
  EXPECT_CUDA(cudaEventRecord(join, other));
  EXPECT_CUDA(cudaStreamWaitEvent(stream_, join));
  sum_of<<<1, kThreads, 0, stream_>>>(out, a_, b_);
  end();
  std::size_t count = 0;
  EXPECT_CUDA(cudaGraphGetNodes(graph_, nullptr, &count));
  EXPECT_EQ(4u, count);
  instantiate();
  launch();
  launch_and_wait();
  EXPECT_EQ(all(3 + 7), out.get());
}

TEST_F(GraphTest, CopiesReadTheHostWhenTheGraphRuns) {
  std::vector<int> host(kThreads, 5), back(kThreads, 0);
  begin();
  EXPECT_CUDA(cudaMemcpyAsync(a_, host.data(), a_.bytes(), cudaMemcpyHostToDevice, stream_));
  add<<<1, kThreads, 0, stream_>>>(a_, 1);
  EXPECT_CUDA(cudaMemcpyAsync(back.data(), a_, a_.bytes(), cudaMemcpyDeviceToHost, stream_));
  end();
  instantiate();
  host.assign(kThreads, 7);
  launch_and_wait();
  EXPECT_EQ(all(8), back);
}

TEST_F(GraphTest, RecaptureUpdatesTheExecutable) {
  for (int value : {1, 10, 100}) {
    cudaGraph_t graph = nullptr;
    begin();
    add<<<1, kThreads, 0, stream_>>>(a_, value);
    EXPECT_CUDA(cudaStreamEndCapture(stream_, &graph));
    cudaGraphExecUpdateResultInfo information;
    EXPECT_CUDA(exec_ ? cudaGraphExecUpdate(exec_, graph, &information)
                      : cudaGraphInstantiate(&exec_, graph, 0));
    EXPECT_CUDA(cudaGraphDestroy(graph));
    launch();
  }
  EXPECT_CUDA(cudaStreamSynchronize(stream_));
  EXPECT_EQ(all(112), a_.get());
  begin();
  EXPECT_CUDA(cudaMemsetAsync(a_, 0, a_.bytes(), stream_));
  end();
  cudaGraphExecUpdateResultInfo information;
  EXPECT_EQ(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec_, graph_, &information));
  EXPECT_EQ(cudaGraphExecUpdateErrorNodeTypeChanged, information.result);
  cudaGetLastError();
}

TEST_F(GraphTest, WhatCannotBeCapturedSpoilsTheCapture) {
  begin();
  add<<<1, kThreads, 0, stream_>>>(a_, 1);
  EXPECT_EQ(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(stream_));
  EXPECT_EQ(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream_, &graph_));
  EXPECT_EQ(nullptr, graph_);
  begin();
  add<<<1, kThreads>>>(a_, 1);  // the default stream would wait for the captured one
  EXPECT_EQ(cudaErrorStreamCaptureImplicit, cudaGetLastError());
  EXPECT_EQ(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream_, &graph_));
  EXPECT_EQ(cudaErrorStreamCaptureUnsupported,
            cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  EXPECT_EQ(cudaErrorIllegalState, cudaStreamEndCapture(stream_, &graph_));
  cudaGetLastError();
  EXPECT_EQ(all(1), a_.get());
}

TEST_F(GraphTest, TheModeOfACapture) {
  int* memory = nullptr;
  const auto allocate_and_free = [&] {
    if (const cudaError_t error = cudaMalloc(&memory, sizeof(int))) return error;
    return cudaFree(memory);
  };
  for (const auto mode : {cudaStreamCaptureModeRelaxed, cudaStreamCaptureModeThreadLocal,
                          cudaStreamCaptureModeGlobal}) {
    cudaError_t of_other = cudaSuccess;
    EXPECT_CUDA(cudaStreamBeginCapture(stream_, mode));
    std::thread([&] { of_other = allocate_and_free(); }).join();
    const bool allows_others = mode != cudaStreamCaptureModeGlobal;
    EXPECT_EQ(allows_others ? cudaSuccess : cudaErrorStreamCaptureUnsupported, of_other);
    const bool allows_own = mode == cudaStreamCaptureModeRelaxed;
    EXPECT_EQ(allows_own ? cudaSuccess : cudaErrorStreamCaptureUnsupported, allocate_and_free());
    EXPECT_EQ(allows_own ? cudaSuccess : cudaErrorStreamCaptureInvalidated,
              cudaStreamEndCapture(stream_, &graph_));
    if (graph_) {
      EXPECT_CUDA(cudaGraphDestroy(graph_));
    }
    graph_ = nullptr;
  }
  cudaGetLastError();
}

TEST_F(GraphTest, AForkThatIsNotJoined) {
  const Stream other;
  const Event fork;
  begin();
  EXPECT_CUDA(cudaEventRecord(fork, stream_));
  EXPECT_CUDA(cudaStreamWaitEvent(other, fork));
  add<<<1, kThreads, 0, other>>>(a_, 1);
  EXPECT_EQ(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(stream_, &graph_));
  add<<<1, kThreads, 0, other>>>(a_, 1);  // is no longer captured
  EXPECT_CUDA(cudaStreamSynchronize(other));
  EXPECT_EQ(all(2), a_.get());
  cudaGetLastError();
}

void count_calls(void* calls) { ++*static_cast<int*>(calls); }

TEST_F(GraphTest, BuiltByHand) {
  EXPECT_CUDA(cudaGraphCreate(&graph_, 0));
  int* a = a_;
  int value = 4, calls = 0;
  void* arguments[] = {&a, &value};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void*)add;
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(kThreads);
  kernel.kernelParams = arguments;
  cudaGraphNode_t added, multiplied, called, cleared;
  const cudaMemsetParams clear = {a, 0, 0, 1, a_.bytes(), 1};
  EXPECT_CUDA(cudaGraphAddMemsetNode(&cleared, graph_, nullptr, 0, &clear));
  EXPECT_CUDA(cudaGraphAddKernelNode(&added, graph_, &cleared, 1, &kernel));
  kernel.func = (void*)multiply;
  EXPECT_CUDA(cudaGraphAddKernelNode(&multiplied, graph_, nullptr, 0, &kernel));
  EXPECT_CUDA(cudaGraphAddDependencies(graph_, &added, &multiplied, 1));
  const cudaHostNodeParams host = {count_calls, &calls};
  EXPECT_CUDA(cudaGraphAddHostNode(&called, graph_, &multiplied, 1, &host));
  cudaGraphNodeType type;
  EXPECT_CUDA(cudaGraphNodeGetType(called, &type));
  EXPECT_EQ(cudaGraphNodeTypeHost, type);
  instantiate();
  launch_and_wait();
  EXPECT_EQ(all(16), a_.get());
  value = 5;
  EXPECT_CUDA(cudaGraphExecKernelNodeSetParams(exec_, multiplied, &kernel));
  launch_and_wait();
  EXPECT_EQ(all(20), a_.get());
  EXPECT_EQ(2, calls);
}

TEST_F(GraphTest, TheEdges) {
  EXPECT_CUDA(cudaGraphCreate(&graph_, 0));
  cudaGraphNode_t nodes[3], from[3], to[3];
  for (int i = 0; i < 3; ++i) EXPECT_CUDA(cudaGraphAddEmptyNode(&nodes[i], graph_, nodes, i));
  std::size_t count = 0;
  EXPECT_CUDA(cudaGraphGetEdges(graph_, nullptr, nullptr, &count));
  EXPECT_EQ(3u, count);
  EXPECT_CUDA(cudaGraphGetEdges(graph_, from, to, &count));
  EXPECT_EQ((std::vector<cudaGraphNode_t>{nodes[0], nodes[0], nodes[1]}),
            std::vector<cudaGraphNode_t>(from, from + 3));
  EXPECT_EQ((std::vector<cudaGraphNode_t>{nodes[1], nodes[2], nodes[2]}),
            std::vector<cudaGraphNode_t>(to, to + 3));
}

// A fill of several rows with a value of several bytes is one node.
TEST_F(GraphTest, FillsOfRows) {
  EXPECT_CUDA(cudaGraphCreate(&graph_, 0));
  cudaMemsetParams fill = {a_, 8 * sizeof(int), 1000, 4, 3, 4};
  cudaGraphNode_t node = nullptr, first = nullptr;
  EXPECT_CUDA(cudaGraphAddMemsetNode(&node, graph_, nullptr, 0, &fill));
  std::size_t count = 1;
  EXPECT_CUDA(cudaGraphGetNodes(graph_, &first, &count));
  EXPECT_EQ(node, first);
  EXPECT_CUDA(cudaGraphGetNodes(graph_, nullptr, &count));
  EXPECT_EQ(1u, count);
  cudaGraphNodeType type;
  EXPECT_CUDA(cudaGraphNodeGetType(node, &type));
  EXPECT_EQ(cudaGraphNodeTypeMemset, type);
  instantiate();
  launch_and_wait();
  for (std::size_t i = 0; i < kThreads; ++i) EXPECT_EQ(i % 8 < 3 ? 1000 : 1, a_.get()[i]);
  fill.elementSize = 3;
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphAddMemsetNode(&node, graph_, nullptr, 0, &fill));
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphAddMemsetNode(&node, graph_, nullptr, 0, nullptr));
  cudaGetLastError();
}

// The parameters of nodes in the executable change; the graph's nodes remain their names.
TEST_F(GraphTest, NewParametersInAnExecutable) {
  EXPECT_CUDA(cudaGraphCreate(&graph_, 0));
  std::vector<int> to(kThreads), other(kThreads);
  int calls = 0, others = 0;
  cudaMemsetParams fill = {a_, 0, 7, 4, kThreads, 1};
  const cudaHostNodeParams host = {count_calls, &calls}, host_of_others = {count_calls, &others};
  cudaGraphNode_t filled, copied, called;
  EXPECT_CUDA(cudaGraphAddMemsetNode(&filled, graph_, nullptr, 0, &fill));
  EXPECT_CUDA(cudaGraphAddMemcpyNode1D(&copied, graph_, &filled, 1, to.data(), a_, a_.bytes(),
                                       cudaMemcpyDeviceToHost));
  EXPECT_CUDA(cudaGraphAddHostNode(&called, graph_, &copied, 1, &host));
  instantiate();
  launch_and_wait();
  fill.value = 0x01020304;
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(exec_, copied, &fill));
  cudaGetLastError();
  cudaGraph_t clone;
  cudaGraphExecUpdateResultInfo information;
  EXPECT_CUDA(cudaGraphClone(&clone, graph_));
  EXPECT_CUDA(cudaGraphExecUpdate(exec_, clone, &information));
  EXPECT_CUDA(cudaGraphDestroy(clone));
  EXPECT_CUDA(cudaGraphExecMemsetNodeSetParams(exec_, filled, &fill));
  EXPECT_CUDA(cudaGraphExecMemcpyNodeSetParams1D(exec_, copied, other.data(), a_, a_.bytes(),
                                                 cudaMemcpyDeviceToHost));
  EXPECT_CUDA(cudaGraphExecHostNodeSetParams(exec_, called, &host_of_others));
  launch_and_wait();
  EXPECT_EQ(all(7), to);
  EXPECT_EQ(all(0x01020304), other);
  EXPECT_EQ(1, calls);
  EXPECT_EQ(1, others);
}

TEST(CaptureOfThreads, ARelaxedThreadMayAllocate) {
  const Stream stream;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(cudaStreamCaptureModeGlobal, mode);
  void* memory = nullptr;
  EXPECT_CUDA(cudaMalloc(&memory, 4));
  EXPECT_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(cudaStreamCaptureModeRelaxed, mode);
  cudaGraph_t graph = nullptr;
  EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
  EXPECT_CUDA(cudaFree(memory));
  EXPECT_CUDA(cudaGraphDestroy(graph));
}

TEST(CaptureOfRows, ACopyIsOneNode) {
  const Stream stream;
  DeviceArray<char> device(100, 0);
  std::vector<char> host(12, 7), back(12);
  EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_CUDA(cudaMemset2DAsync(device, 10, 5, 4, 3, stream));
  EXPECT_CUDA(
      cudaMemcpy2DAsync(device + 1, 10, host.data(), 3, 2, 3, cudaMemcpyHostToDevice, stream));
  EXPECT_CUDA(cudaMemcpy2DAsync(back.data(), 4, device, 10, 4, 3, cudaMemcpyDeviceToHost, stream));
  cudaGraph_t graph = nullptr;
  EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
  cudaGraphNode_t nodes[4] = {};
  std::size_t count = 4;
  EXPECT_CUDA(cudaGraphGetNodes(graph, nodes, &count));
  ASSERT_EQ(3u, count);
  cudaMemsetParams fill{};
  cudaMemcpy3DParms copy{};
  EXPECT_CUDA(cudaGraphMemsetNodeGetParams(nodes[0], &fill));
  EXPECT_CUDA(cudaGraphMemcpyNodeGetParams(nodes[1], &copy));
  EXPECT_EQ(3u, fill.height);
  EXPECT_EQ(3u, copy.extent.height);
  EXPECT_EQ(10u, copy.dstPtr.pitch);
  cudaGraphExec_t exec = nullptr;
  EXPECT_CUDA(cudaGraphInstantiate(&exec, graph));
  EXPECT_CUDA(cudaGraphLaunch(exec, stream));
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_EQ((std::vector<char>{5, 7, 7, 5, 5, 7, 7, 5, 5, 7, 7, 5}), back);
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
  EXPECT_CUDA(cudaGraphDestroy(graph));
}

}  // namespace
