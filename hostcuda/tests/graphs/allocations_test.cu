// Tests the memory that graphs allocate.
#include <cstdint>

#include "support.h"

namespace {

__global__ void fill_memory(int* memory, int value) { memory[threadIdx.x] = value; }
__global__ void add_memory(int* sums, const int* memory) {
  sums[threadIdx.x] += memory[threadIdx.x];
}

class AllocationsTest : public testing::Test {
 protected:
  void begin() { EXPECT_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal)); }
  cudaGraphExec_t end(unsigned long long flags = 0) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    EXPECT_CUDA(cudaStreamEndCapture(stream_, &graph));
    EXPECT_CUDA(cudaGraphInstantiate(&exec, graph, flags));
    EXPECT_CUDA(cudaGraphDestroy(graph));
    return exec;
  }
  void expect_sums(int value) {
    EXPECT_CUDA(cudaStreamSynchronize(stream_));
    EXPECT_EQ(std::vector<int>(32, value), sums_.get());
  }
  static std::uint64_t attribute(cudaGraphMemAttributeType type) {
    std::uint64_t value = 0;
    EXPECT_CUDA(cudaDeviceGetGraphMemAttribute(0, type, &value));
    return value;
  }

  const Stream stream_{cudaStreamNonBlocking};
  DeviceArray<int> sums_{32, 0};
  static constexpr std::size_t kBytes = 32 * sizeof(int);
};

TEST_F(AllocationsTest, ACapturedAllocationIsAndStaysTheGraphs) {
  int* memory = nullptr;
  begin();
  EXPECT_CUDA(cudaMallocAsync(&memory, kBytes, stream_));
  fill_memory<<<1, 32, 0, stream_>>>(memory, 3);
  add_memory<<<1, 32, 0, stream_>>>(sums_, memory);
  EXPECT_CUDA(cudaFreeAsync(memory, stream_));
  cudaGraphExec_t exec = end();
  DeviceArray<int> other(32, 1);  // must not get the graph's memory
  EXPECT_NE(memory, static_cast<int*>(other));
  for (int i = 0; i < 3; ++i) EXPECT_CUDA(cudaGraphLaunch(exec, stream_));
  expect_sums(9);
  EXPECT_EQ(cudaErrorInvalidValue, cudaFree(memory));  // the graph has freed it
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, memory);
  EXPECT_NE(cudaMemoryTypeDevice, attributes.type);
  cudaGetLastError();
}

// The next launch writes to the same address, so the memory must still be the graph's.
TEST_F(AllocationsTest, TheProgramFreesTheMemory) {
  int* memory = nullptr;
  begin();
  EXPECT_CUDA(cudaMallocAsync(&memory, kBytes, stream_));
  fill_memory<<<1, 32, 0, stream_>>>(memory, 2);
  cudaGraphExec_t exec = end();
  EXPECT_EQ(cudaErrorInvalidValue, cudaFreeAsync(memory, stream_));  // not allocated yet
  EXPECT_CUDA(cudaGraphLaunch(exec, stream_));
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphLaunch(exec, stream_));  // not freed yet
  add_memory<<<1, 32, 0, stream_>>>(sums_, memory);
  EXPECT_CUDA(cudaFreeAsync(memory, stream_));
  DeviceArray<int> other(32, 7);
  EXPECT_CUDA(cudaGraphLaunch(exec, stream_));
  add_memory<<<1, 32, 0, stream_>>>(sums_, memory);
  expect_sums(4);
  EXPECT_EQ(std::vector<int>(32, 7), other.get());
  EXPECT_CUDA(cudaFree(memory));
  EXPECT_EQ(cudaErrorInvalidValue, cudaFree(memory));
  cudaGetLastError();
  // Memory in use outlives its graph.
  EXPECT_CUDA(cudaGraphLaunch(exec, stream_));
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
  add_memory<<<1, 32, 0, stream_>>>(sums_, memory);
  expect_sums(6);
  EXPECT_CUDA(cudaFree(memory));
  EXPECT_EQ(cudaErrorInvalidValue, cudaFree(memory));
  cudaGetLastError();
}

TEST_F(AllocationsTest, AnotherGraphFreesTheMemory) {
  int* memory = nullptr;
  begin();
  EXPECT_CUDA(cudaMallocAsync(&memory, kBytes, stream_));
  fill_memory<<<1, 32, 0, stream_>>>(memory, 5);
  cudaGraphExec_t writes = end();
  begin();
  add_memory<<<1, 32, 0, stream_>>>(sums_, memory);
  EXPECT_CUDA(cudaFreeAsync(memory, stream_));
  cudaGraphExec_t frees = end();
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphLaunch(frees, stream_));
  for (int i = 0; i < 2; ++i) {
    EXPECT_CUDA(cudaGraphLaunch(writes, stream_));
    EXPECT_CUDA(cudaGraphLaunch(frees, stream_));
  }
  expect_sums(10);
  EXPECT_CUDA(cudaGraphExecDestroy(writes));
  EXPECT_CUDA(cudaGraphExecDestroy(frees));
  cudaGetLastError();
}

TEST_F(AllocationsTest, AutoFreeOnLaunch) {
  int* memory = nullptr;
  begin();
  EXPECT_CUDA(cudaMallocAsync(&memory, kBytes, stream_));
  fill_memory<<<1, 32, 0, stream_>>>(memory, 1);
  cudaGraphExec_t exec = end(cudaGraphInstantiateFlagAutoFreeOnLaunch);
  for (int i = 0; i < 3; ++i) EXPECT_CUDA(cudaGraphLaunch(exec, stream_));
  EXPECT_CUDA(cudaFreeAsync(memory, stream_));
  EXPECT_CUDA(cudaStreamSynchronize(stream_));
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
}

TEST_F(AllocationsTest, AGraphWithMemoryNodesIsNotCopied) {
  int* memory = nullptr;
  cudaGraph_t graph = nullptr, other = nullptr;
  cudaGraphExec_t exec = nullptr, second = nullptr;
  cudaGraphNode_t node = nullptr;
  begin();
  EXPECT_CUDA(cudaMallocAsync(&memory, kBytes, stream_));
  EXPECT_CUDA(cudaFreeAsync(memory, stream_));
  EXPECT_EQ(cudaErrorInvalidValue, cudaFreeAsync(memory, stream_));
  EXPECT_CUDA(cudaStreamEndCapture(stream_, &graph));
  EXPECT_EQ(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&node, graph, nullptr, 0, memory));
  EXPECT_CUDA(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_EQ(cudaErrorNotSupported, cudaGraphInstantiate(&second, graph, 0));
  EXPECT_EQ(cudaErrorNotSupported, cudaGraphClone(&other, graph));
  EXPECT_CUDA(cudaGraphCreate(&other, 0));
  EXPECT_EQ(cudaErrorNotSupported, cudaGraphAddChildGraphNode(&node, other, nullptr, 0, graph));
  begin();
  EXPECT_EQ(cudaErrorNotSupported, cudaGraphLaunch(exec, stream_));
  EXPECT_CUDA(cudaGraphDestroy(other));
  EXPECT_CUDA(cudaStreamEndCapture(stream_, &other));
  EXPECT_CUDA(cudaGraphDestroy(other));
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
  EXPECT_CUDA(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_CUDA(cudaGraphDestroy(graph));
  EXPECT_CUDA(cudaGraphLaunch(exec, stream_));
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
  cudaGetLastError();
}

TEST_F(AllocationsTest, OrdinaryMemoryIsNotFreedInACapture) {
  cudaGraph_t graph = nullptr;
  begin();
  EXPECT_EQ(cudaErrorInvalidValue, cudaFreeAsync(sums_, stream_));
  EXPECT_CUDA(cudaStreamEndCapture(stream_, &graph));
  EXPECT_CUDA(cudaGraphDestroy(graph));
  cudaGetLastError();
}

TEST_F(AllocationsTest, Attributes) {
  EXPECT_CUDA(cudaDeviceGraphMemTrim(0));
  EXPECT_EQ(0u, attribute(cudaGraphMemAttrUsedMemCurrent));
  std::uint64_t zero = 0, one = 1;
  EXPECT_CUDA(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero));
  EXPECT_EQ(cudaErrorInvalidValue,
            cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &one));
  int* memory = nullptr;
  begin();
  EXPECT_CUDA(cudaMallocAsync(&memory, kBytes, stream_));
  cudaGraphExec_t exec = end();
  EXPECT_EQ(0u, attribute(cudaGraphMemAttrReservedMemCurrent));
  EXPECT_CUDA(cudaGraphLaunch(exec, stream_));
  EXPECT_EQ(kBytes, attribute(cudaGraphMemAttrReservedMemCurrent));
  EXPECT_CUDA(cudaDeviceGraphMemTrim(0));
  EXPECT_EQ(kBytes, attribute(cudaGraphMemAttrUsedMemCurrent));  // still in use
  EXPECT_CUDA(cudaFreeAsync(memory, stream_));
  EXPECT_CUDA(cudaDeviceGraphMemTrim(0));
  EXPECT_EQ(0u, attribute(cudaGraphMemAttrUsedMemCurrent));
  EXPECT_EQ(kBytes, attribute(cudaGraphMemAttrUsedMemHigh));
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
  EXPECT_EQ(cudaErrorInvalidDevice, cudaDeviceGraphMemTrim(device_count()));
  cudaGetLastError();
}

}  // namespace
