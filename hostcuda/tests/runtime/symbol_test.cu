// Tests __constant__ and __device__ variables.
#include "support.h"

namespace {

__constant__ float table[4];
__constant__ float initialised[2] = {1.5f, 2.5f};
__device__ int counter;

__global__ void read_table(float* out) {
  out[threadIdx.x] = table[threadIdx.x] + initialised[threadIdx.x % 2];
}
__global__ void count() { atomicAdd(&counter, 1); }

TEST(Symbol, IsCopiedToAndFrom) {
  const float values[4] = {1, 2, 3, 4};
  EXPECT_CUDA(cudaMemcpyToSymbol(table, values, sizeof values));
  const float last = 9;
  EXPECT_CUDA(cudaMemcpyToSymbol(table, &last, sizeof last, 3 * sizeof(float)));
  DeviceArray<float> out(4);
  read_table<<<1, 4>>>(out);
  EXPECT_EQ((std::vector<float>{2.5, 4.5, 4.5, 11.5}), out.get());
  float back[2] = {};
  EXPECT_CUDA(cudaMemcpyFromSymbol(back, table, sizeof back, 2 * sizeof(float)));
  EXPECT_EQ(3, back[0]);
  EXPECT_EQ(9, back[1]);
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemcpyToSymbol(table, values, sizeof values, 4));
  cudaGetLastError();
}

TEST(Symbol, TheDirectionIsChecked) {
  float value = 5;
  const DeviceArray<float> device(1, 7);
  const auto to = [&](const void* from, cudaMemcpyKind kind) {
    return cudaMemcpyToSymbol(table, from, sizeof value, 0, kind);
  };
  const auto from = [&](void* target, cudaMemcpyKind kind) {
    return cudaMemcpyFromSymbol(target, table, sizeof value, 0, kind);
  };
  EXPECT_EQ(cudaErrorInvalidMemcpyDirection, to(&value, cudaMemcpyDeviceToHost));
  EXPECT_EQ(cudaErrorInvalidMemcpyDirection, to(&value, cudaMemcpyHostToHost));
  EXPECT_EQ(cudaErrorInvalidMemcpyDirection, from(&value, cudaMemcpyHostToDevice));
  EXPECT_EQ(cudaErrorInvalidValue, to(device, cudaMemcpyHostToDevice));
  EXPECT_EQ(cudaErrorInvalidValue, from(&value, cudaMemcpyDeviceToDevice));
  EXPECT_CUDA(to(device, cudaMemcpyDeviceToDevice));
  EXPECT_CUDA(from(&value, cudaMemcpyDefault));
  EXPECT_EQ(7, value);
  cudaGetLastError();
}

TEST(Symbol, AGraphReadsPageableMemoryWhenItRuns) {
  const Stream stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  float value = 1, back = 0;
  EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_CUDA(
      cudaMemcpyToSymbolAsync(table, &value, sizeof value, 0, cudaMemcpyHostToDevice, stream));
  EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
  cudaGraphNode_t node = nullptr;
  std::size_t count = 1;
  EXPECT_CUDA(cudaGraphGetNodes(graph, &node, &count));
  cudaGraphNodeType type = cudaGraphNodeTypeKernel;
  EXPECT_CUDA(cudaGraphNodeGetType(node, &type));
  EXPECT_EQ(cudaGraphNodeTypeMemcpy, type);
  EXPECT_CUDA(cudaGraphInstantiate(&exec, graph));
  value = 3;
  EXPECT_CUDA(cudaGraphLaunch(exec, stream));
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_CUDA(cudaMemcpyFromSymbol(&back, table, sizeof back));
  EXPECT_EQ(3, back);
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
  EXPECT_CUDA(cudaGraphDestroy(graph));
}

TEST(Symbol, AsynchronousCopiesFollowTheStream) {
  const Stream stream;
  float values[4] = {1, 1, 1, 1};
  EXPECT_CUDA(
      cudaMemcpyToSymbolAsync(table, values, sizeof values, 0, cudaMemcpyHostToDevice, stream));
  values[0] = 100;  // the copy has already read pageable memory
  DeviceArray<float> out(4);
  read_table<<<1, 4, 0, stream>>>(out);
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_EQ((std::vector<float>{2.5, 3.5, 2.5, 3.5}), out.get());
}

TEST(Symbol, DeviceVariableIsWrittenByKernels) {
  const int zero = 0;
  EXPECT_CUDA(cudaMemcpyToSymbol(counter, &zero, sizeof zero));
  count<<<10, 10>>>();
  int counted = 0;
  EXPECT_CUDA(cudaMemcpyFromSymbol(&counted, counter, sizeof counted));
  EXPECT_EQ(100, counted);
}

TEST(Symbol, CopiesAndFillsByItsAddress) {
  void* address = nullptr;
  EXPECT_CUDA(cudaGetSymbolAddress(&address, counter));
  EXPECT_CUDA(cudaMemset(address, 0, sizeof(int)));
  count<<<2, 3>>>();
  int counted = 0;
  EXPECT_CUDA(cudaMemcpy(&counted, address, sizeof counted, cudaMemcpyDeviceToHost));
  EXPECT_EQ(6, counted);
  DeviceArray<int> copy(1);
  EXPECT_CUDA(cudaMemcpy(copy, address, sizeof counted, cudaMemcpyDeviceToDevice));
  EXPECT_EQ(6, copy.get()[0]);
  EXPECT_EQ(cudaErrorInvalidValue,
            cudaMemcpy(&counted, address, sizeof counted, cudaMemcpyHostToDevice));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemset(address, 0, sizeof(int) + 1));
  cudaGetLastError();
}

TEST(Symbol, EachDeviceHasItsOwn) {
  const int devices = device_count();
  if (devices < 2) GTEST_SKIP();
  for (int d = 0; d < devices; ++d) {
    EXPECT_CUDA(cudaSetDevice(d));
    const float value = static_cast<float>(d);
    EXPECT_CUDA(cudaMemcpyToSymbol(table, &value, sizeof value));
  }
  for (int d = 0; d < devices; ++d) {
    EXPECT_CUDA(cudaSetDevice(d));
    DeviceArray<float> out(1);
    read_table<<<1, 1>>>(out);
    EXPECT_EQ(d + 1.5f, out.get()[0]);
  }
  EXPECT_CUDA(cudaSetDevice(0));
}

TEST(Symbol, NodesOfGraphsCopyIt) {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t to = nullptr, from = nullptr;
  float value = 8, back = 0;
  EXPECT_CUDA(cudaGraphCreate(&graph, 0));
  EXPECT_CUDA(cudaGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, table, &value, sizeof value, 4,
                                             cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, &back, table, sizeof back, 4,
                                               cudaMemcpyDeviceToHost));
  cudaGraphExec_t exec = nullptr;
  EXPECT_CUDA(cudaGraphInstantiate(&exec, graph));
  EXPECT_CUDA(cudaGraphLaunch(exec, nullptr));
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(8, back);
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
  EXPECT_CUDA(cudaGraphDestroy(graph));
}

TEST(Symbol, AHostPointerIsNone) {
  const float values[2] = {1, 2};
  float* pointer = nullptr;
  EXPECT_CUDA(cudaMalloc(&pointer, sizeof values));
  float* const before = pointer;
  EXPECT_EQ(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(pointer, values, sizeof pointer));
  EXPECT_EQ(before, pointer);
  EXPECT_CUDA(cudaFree(pointer));
}

}  // namespace
