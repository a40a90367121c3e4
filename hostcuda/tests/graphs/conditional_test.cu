// Tests nodes with a condition, nodes by their parameters, and capture into a graph.
#include "support.h"

namespace {

__global__ void set_condition(cudaGraphConditionalHandle handle, const int* value) {
  cudaGraphSetConditional(handle, static_cast<unsigned>(*value));
}
__global__ void add_to_sum(int* sum, int value) { *sum += value; }
__global__ void count_down(int* left, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, --*left > 0);
}

class ConditionTest : public testing::Test {
 protected:
  ConditionTest() { EXPECT_CUDA(cudaGraphCreate(&graph_, 0)); }
  ~ConditionTest() override {
    if (exec_) {
      EXPECT_CUDA(cudaGraphExecDestroy(exec_));
    }
    EXPECT_CUDA(cudaGraphDestroy(graph_));
  }
  template <class... Arguments>
  cudaGraphNode_t add_kernel(cudaGraph_t graph, void* kernel, Arguments... arguments) {
    void* pointers[] = {&arguments...};
    cudaGraphNodeParams parameters = {};
    parameters.type = cudaGraphNodeTypeKernel;
    parameters.kernel.func = kernel;
    parameters.kernel.gridDim = parameters.kernel.blockDim = dim3(1);
    parameters.kernel.kernelParams = pointers;
    cudaGraphNode_t node = nullptr;
    EXPECT_CUDA(cudaGraphAddNode(&node, graph, nullptr, 0, &parameters));  // as in CUDA 12
    return node;
  }
  // Adds a node with a condition after `earlier`, and returns its graphs.
  cudaGraph_t* add_condition(cudaGraphConditionalNodeType type, unsigned size,
                             cudaGraphNode_t earlier = nullptr) {
    cudaGraphNodeParams parameters = {};
    parameters.type = cudaGraphNodeTypeConditional;
    parameters.conditional.handle = handle_;
    parameters.conditional.type = type;
    parameters.conditional.size = size;
    EXPECT_CUDA(cudaGraphAddNode(&node_, graph_, earlier ? &earlier : nullptr, nullptr,
                                 earlier != nullptr, &parameters));
    return parameters.conditional.phGraph_out;
  }
  void launch() {
    if (!exec_) {
      EXPECT_CUDA(cudaGraphInstantiate(&exec_, graph_, 0));
    }
    EXPECT_CUDA(cudaGraphLaunch(exec_, nullptr));
  }
  int sum_if(int value) {
    value_.set({value});
    sum_.set({0});
    launch();
    return sum_.get()[0];
  }

  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
  cudaGraphNode_t node_ = nullptr;
  cudaGraphConditionalHandle handle_ = 0;
  DeviceArray<int> value_{1, 0}, sum_{1, 0};
};

TEST_F(ConditionTest, IfAndElse) {
  EXPECT_CUDA(cudaGraphConditionalHandleCreate(&handle_, graph_));
  const cudaGraphNode_t set = add_kernel(graph_, (void*)set_condition, handle_, (int*)value_);
  cudaGraph_t* bodies = add_condition(cudaGraphCondTypeIf, 2, set);
  cudaGraphNodeType type;
  EXPECT_CUDA(cudaGraphNodeGetType(node_, &type));
  EXPECT_EQ(cudaGraphNodeTypeConditional, type);
  add_kernel(bodies[0], (void*)add_to_sum, (int*)sum_, 10);
  add_kernel(bodies[1], (void*)add_to_sum, (int*)sum_, 20);
  EXPECT_EQ(10, sum_if(1));
  EXPECT_EQ(20, sum_if(0));
  EXPECT_EQ(10, sum_if(5));
}

TEST_F(ConditionTest, Switch) {
  EXPECT_CUDA(cudaGraphConditionalHandleCreate(&handle_, graph_));
  const cudaGraphNode_t set = add_kernel(graph_, (void*)set_condition, handle_, (int*)value_);
  cudaGraph_t* bodies = add_condition(cudaGraphCondTypeSwitch, 3, set);
  for (int i = 0; i < 3; ++i) add_kernel(bodies[i], (void*)add_to_sum, (int*)sum_, 10 + i);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(10 + i, sum_if(i));
  EXPECT_EQ(0, sum_if(3));
}

TEST_F(ConditionTest, WhileAndTheDefaultValue) {
  EXPECT_CUDA(cudaGraphConditionalHandleCreate(&handle_, graph_, 1, cudaGraphCondAssignDefault));
  cudaGraph_t* bodies = add_condition(cudaGraphCondTypeWhile, 1);
  const Stream stream;
  EXPECT_CUDA(cudaStreamBeginCaptureToGraph(stream, bodies[0], nullptr, nullptr, 0,
                                            cudaStreamCaptureModeGlobal));
  add_to_sum<<<1, 1, 0, stream>>>(sum_, 3);
  count_down<<<1, 1, 0, stream>>>(value_, handle_);
  EXPECT_CUDA(cudaStreamEndCapture(stream, nullptr));
  EXPECT_EQ(3 * 4, sum_if(4));
  EXPECT_EQ(3 * 2, sum_if(2));  // the default value begins the loop again
}

// The kernel sets the value for the next launch of the same executable.
TEST_F(ConditionTest, EachExecutableHasItsOwnValue) {
  EXPECT_CUDA(cudaGraphConditionalHandleCreate(&handle_, graph_));
  cudaGraph_t* bodies = add_condition(cudaGraphCondTypeIf, 1);
  add_kernel(bodies[0], (void*)add_to_sum, (int*)sum_, 1);
  cudaGraphNode_t set = add_kernel(graph_, (void*)set_condition, handle_, (int*)value_);
  EXPECT_CUDA(cudaGraphAddDependencies(graph_, &node_, &set, nullptr, 1));
  cudaGraphExec_t other = nullptr;
  EXPECT_CUDA(cudaGraphInstantiate(&other, graph_, 0));
  EXPECT_EQ(0, sum_if(1));
  EXPECT_CUDA(cudaGraphLaunch(other, nullptr));
  EXPECT_EQ(0, sum_.get()[0]);
  EXPECT_EQ(1, sum_if(1));
  EXPECT_CUDA(cudaGraphLaunch(other, nullptr));
  EXPECT_EQ(2, sum_.get()[0]);
  EXPECT_CUDA(cudaGraphExecDestroy(other));
}

TEST_F(ConditionTest, WrongConditions) {
  EXPECT_CUDA(cudaGraphConditionalHandleCreate(&handle_, graph_));
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphConditionalHandleCreate(&handle_, graph_, 0, 2));
  cudaGraphNodeParams parameters = {};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.type = cudaGraphCondTypeWhile;
  parameters.conditional.size = 1;
  EXPECT_EQ(cudaErrorInvalidValue,
            cudaGraphAddNode(&node_, graph_, nullptr, nullptr, 0, &parameters));  // no handle
  parameters.conditional.handle = handle_;
  parameters.conditional.size = 2;
  EXPECT_EQ(cudaErrorInvalidValue,
            cudaGraphAddNode(&node_, graph_, nullptr, nullptr, 0, &parameters));
  cudaGraph_t* bodies = add_condition(cudaGraphCondTypeIf, 1);
  parameters.conditional.size = 1;  // a second node for the handle
  EXPECT_EQ(cudaErrorInvalidValue,
            cudaGraphAddNode(&node_, graph_, nullptr, nullptr, 0, &parameters));
  const cudaHostNodeParams host = {[](void*) {}, nullptr};
  EXPECT_CUDA(cudaGraphAddHostNode(&node_, bodies[0], nullptr, 0, &host));
  EXPECT_EQ(cudaErrorNotSupported, cudaGraphInstantiate(&exec_, graph_, 0));
  cudaGetLastError();
}

TEST_F(ConditionTest, ANodeIsInsertedIntoACapture) {
  const Stream stream;
  cudaStreamCaptureStatus status;
  cudaGraph_t captured = nullptr;
  const cudaGraphNode_t* earlier = nullptr;
  std::size_t count = 0;
  EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add_to_sum<<<1, 1, 0, stream>>>(sum_, 1);
  EXPECT_CUDA(
      cudaStreamGetCaptureInfo(stream, &status, nullptr, &captured, &earlier, nullptr, &count));
  ASSERT_EQ(1u, count);
  cudaGraphNode_t empty;
  EXPECT_CUDA(cudaGraphAddEmptyNode(&empty, captured, earlier, count));
  EXPECT_CUDA(cudaStreamUpdateCaptureDependencies(stream, &empty, nullptr, 1,
                                                  cudaStreamSetCaptureDependencies));
  EXPECT_CUDA(
      cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &earlier, nullptr, &count));
  ASSERT_EQ(1u, count);
  EXPECT_EQ(empty, earlier[0]);
  add_to_sum<<<1, 1, 0, stream>>>(sum_, 2);
  EXPECT_CUDA(cudaStreamEndCapture(stream, &captured));
  EXPECT_CUDA(cudaGraphGetNodes(captured, nullptr, &count));
  EXPECT_EQ(3u, count);
  EXPECT_CUDA(cudaGraphInstantiate(&exec_, captured, 0));
  EXPECT_EQ(3, sum_if(0));
  EXPECT_CUDA(cudaGraphDestroy(captured));
}

__global__ void write_index(int* out, int offset) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = offset;
}

TEST_F(ConditionTest, TheParametersOfACapturedKernel) {
  DeviceArray<int> out(64, 0);
  const Stream stream;
  cudaGraph_t captured = nullptr;
  cudaGraphNode_t node = nullptr;
  std::size_t count = 1;
  EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  write_index<<<1, 32, 0, stream>>>(out, 5);
  EXPECT_CUDA(cudaStreamEndCapture(stream, &captured));
  EXPECT_CUDA(cudaGraphGetNodes(captured, &node, &count));
  cudaKernelNodeParams parameters;
  EXPECT_CUDA(cudaGraphKernelNodeGetParams(node, &parameters));
  EXPECT_EQ((void*)write_index, parameters.func);
  EXPECT_EQ(32u, parameters.blockDim.x);
  EXPECT_EQ(static_cast<int*>(out), *static_cast<int**>(parameters.kernelParams[0]));
  EXPECT_EQ(5, *static_cast<int*>(parameters.kernelParams[1]));
  int other = 7;
  void* arguments[] = {parameters.kernelParams[0], &other};
  parameters.kernelParams = arguments;
  parameters.gridDim = dim3(2);
  EXPECT_CUDA(cudaGraphKernelNodeSetParams(node, &parameters));
  EXPECT_CUDA(cudaGraphKernelNodeGetParams(node, &parameters));
  EXPECT_EQ(2u, parameters.gridDim.x);
  EXPECT_CUDA(cudaGraphInstantiate(&exec_, captured, 0));
  launch();
  EXPECT_EQ(std::vector<int>(64, 7), out.get());
  cudaGraphNode_t empty;
  EXPECT_CUDA(cudaGraphAddEmptyNode(&empty, captured, nullptr, 0));
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphKernelNodeGetParams(empty, &parameters));
  cudaGetLastError();
  EXPECT_CUDA(cudaGraphDestroy(captured));
}

TEST_F(ConditionTest, ADestroyedStreamDoesNotSpoilTheCapture) {
  const Stream stream;
  const Event fork, join;
  for (const bool joins : {true, false}) {
    cudaStream_t other;
    cudaGraph_t captured = nullptr;
    EXPECT_CUDA(cudaStreamCreate(&other));
    EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_CUDA(cudaEventRecord(fork, stream));
    EXPECT_CUDA(cudaStreamWaitEvent(other, fork));
    add_to_sum<<<1, 1, 0, other>>>(sum_, 1);
    if (joins) {
      EXPECT_CUDA(cudaEventRecord(join, other));
      EXPECT_CUDA(cudaStreamWaitEvent(stream, join));
    }
    EXPECT_CUDA(cudaStreamDestroy(other));
    add_to_sum<<<1, 1, 0, stream>>>(sum_, 2);
    EXPECT_EQ(joins ? cudaSuccess : cudaErrorStreamCaptureUnjoined,
              cudaStreamEndCapture(stream, &captured));
    if (!joins) continue;
    EXPECT_CUDA(cudaGraphInstantiate(&exec_, captured, 0));
    EXPECT_EQ(3, sum_if(0));
    EXPECT_CUDA(cudaGraphDestroy(captured));
  }
  cudaGetLastError();
}

}  // namespace
