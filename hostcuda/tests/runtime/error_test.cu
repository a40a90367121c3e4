// Tests launch limits, the last error, attributes of kernels, and occupancy.
#include <string>
#include <thread>

#include "support.h"

namespace {

__global__ void touch(int* value) { *value = 1; }
__global__ void use_dynamic(int* value) {
  extern __shared__ int memory[];
  memory[0] = 1;
  *value = memory[0];
}
template <int kNumber>
__global__ void use_dynamic_template(int* value) {
  extern __shared__ int memory[];
  memory[0] = kNumber;
  *value = memory[0];
}

__global__ void __launch_bounds__(64) bounded(int* value) {
  __syncthreads();
  *value = 1;
}
template <int kMost>
__global__ __launch_bounds__(2 * kMost, 1) void bounded_template(int* value) {
  *value = kMost;
}

TEST(Error, ConfigurationsThatNoGpuTakes) {
  DeviceArray<int> value(1, 0);
  const dim3 wrong_grids[] = {dim3(0),        dim3(1, 0),        dim3(1, 1, 0),
                              dim3(1, 65536), dim3(1, 1, 65536), dim3(0x80000000u)};
  const dim3 wrong_blocks[] = {dim3(0),        dim3(1025),      dim3(1, 1025),     dim3(32, 33),
                               dim3(1, 1, 65), dim3(16, 16, 5), dim3(65536, 65536)};
  for (const dim3& grid : wrong_grids) {
    touch<<<grid, 1>>>(value);
    EXPECT_EQ(cudaErrorInvalidConfiguration, cudaGetLastError()) << grid.x << " " << grid.y;
  }
  for (const dim3& block : wrong_blocks) {
    touch<<<1, block>>>(value);
    EXPECT_EQ(cudaErrorInvalidConfiguration, cudaGetLastError()) << block.x << " " << block.y;
  }
  EXPECT_EQ(0, value.get()[0]) << "a rejected launch runs nothing";
  touch<<<1, dim3(16, 1, 64)>>>(value);
  EXPECT_EQ(cudaSuccess, cudaGetLastError());
}

// As on an H200. If the grid begins later than its launch (HOSTCUDA_STREAMS), the error is late
// too.
TEST(Error, LaunchBoundsLimitTheThreadsOfABlock) {
  DeviceArray<int> value(1, 0);
  bounded<<<5, 65>>>(value);
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(cudaErrorInvalidValue, cudaGetLastError());
  bounded_template<32><<<1, dim3(13, 5)>>>(value);
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(cudaErrorInvalidValue, cudaGetLastError());
  int* pointer = value;
  void* arguments[] = {&pointer};
  const cudaError_t launched =
      cudaLaunchCooperativeKernel((const void*)bounded, dim3(2), dim3(128), arguments);
  if (!std::getenv("HOSTCUDA_STREAMS")) {
    EXPECT_EQ(cudaErrorInvalidValue, launched);
  }
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(cudaErrorInvalidValue, cudaGetLastError());
  EXPECT_EQ(0, value.get()[0]) << "a rejected launch runs nothing";
  bounded<<<2, 64>>>(value);
  EXPECT_EQ(1, value.get()[0]);
  bounded_template<32><<<1, 64>>>(value);
  EXPECT_EQ(32, value.get()[0]);
  EXPECT_EQ(cudaSuccess, cudaGetLastError());
}

// In random mode, a launch may make an older grid run, which may fail.
TEST(Error, ALaunchDoesNotReturnTheErrorOfAnOlderGrid) {
  DeviceArray<int> value(1, 0);
  const Stream first(cudaStreamNonBlocking), second(cudaStreamNonBlocking);
  int* pointer = value;
  void* arguments[] = {&pointer};
  for (int i = 0; i < 50; ++i) {
    bounded<<<1, 65, 0, first.handle>>>(value);
    EXPECT_CUDA(
        cudaLaunchKernel((const void*)touch, dim3(1), dim3(1), arguments, 0, second.handle));
  }
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(cudaErrorInvalidValue, cudaGetLastError());
}

TEST(Error, MuchSharedMemoryMustBeAskedFor) {
  DeviceArray<int> value(1, 0);
  constexpr std::size_t kLarge = 100 << 10;
  use_dynamic<<<1, 1, 48 << 10>>>(value);
  EXPECT_EQ(cudaSuccess, cudaGetLastError());
  use_dynamic<<<1, 1, kLarge>>>(value);
  EXPECT_EQ(cudaErrorInvalidValue, cudaGetLastError());
  EXPECT_CUDA(
      cudaFuncSetAttribute(use_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, kLarge));
  use_dynamic<<<1, 1, kLarge>>>(value);
  EXPECT_EQ(cudaSuccess, cudaGetLastError());
  use_dynamic<<<1, 1, kLarge + 4>>>(value);
  EXPECT_EQ(cudaErrorInvalidValue, cudaGetLastError());

  use_dynamic_template<3><<<1, 1, kLarge>>>(value);
  EXPECT_EQ(cudaErrorInvalidValue, cudaGetLastError()) << "the limit of each kernel is separate";
  EXPECT_CUDA(cudaFuncSetAttribute(use_dynamic_template<3>,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, kLarge));
  use_dynamic_template<3><<<1, 1, kLarge>>>(value);
  EXPECT_EQ(cudaSuccess, cudaGetLastError());
  EXPECT_EQ(3, value.get()[0]);
  EXPECT_EQ(
      cudaErrorInvalidValue,
      cudaFuncSetAttribute(use_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 << 10));
  cudaGetLastError();
}

TEST(Error, TheLastOneStaysUntilItIsTaken) {
  EXPECT_EQ(cudaSuccess, cudaGetLastError());
  int* value = nullptr;
  touch<<<0, 1>>>(value);
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(cudaErrorInvalidConfiguration, cudaPeekAtLastError());
  EXPECT_EQ(cudaErrorInvalidConfiguration, cudaGetLastError());
  EXPECT_EQ(cudaSuccess, cudaPeekAtLastError());
}

TEST(Error, BelongsToTheHostThread) {
  touch<<<0, 1>>>(nullptr);
  cudaError_t of_other_thread = cudaErrorUnknown;
  std::thread([&] { of_other_thread = cudaGetLastError(); }).join();
  EXPECT_EQ(cudaSuccess, of_other_thread);
  EXPECT_EQ(cudaErrorInvalidConfiguration, cudaGetLastError());
}

// The results are those of CUDA 13.0.
TEST(Error, FlagsAndPitchesThatDoNotExist) {
  void* memory = nullptr;
  EXPECT_EQ(cudaErrorInvalidValue, cudaMallocManaged(&memory, 16, 0));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMallocManaged(&memory, 16, 3));
  EXPECT_EQ(cudaErrorInvalidValue, cudaHostAlloc(&memory, 16, 8));
  char bytes[64] = "";
  EXPECT_EQ(cudaErrorInvalidValue, cudaHostRegister(bytes, sizeof bytes, 64));
  cudaEvent_t none = nullptr;
  EXPECT_EQ(cudaErrorInvalidValue, cudaEventCreateWithFlags(&none, 8));
  const Event event;
  const Stream stream;
  EXPECT_EQ(cudaErrorInvalidValue, cudaStreamWaitEvent(stream, event, 5));
  DeviceArray<char> data(64);
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(static_cast<char*>(data), 16, 16, 4);
  p.dstPtr = make_cudaPitchedPtr(bytes, 3, 3, 2);
  p.extent = make_cudaExtent(4, 2, 1);
  p.kind = cudaMemcpyDeviceToHost;
  EXPECT_EQ(cudaErrorInvalidPitchValue, cudaMemcpy3D(&p));
  cudaGetLastError();
}

TEST(Error, HaveNames) {
  EXPECT_STREQ("cudaErrorMemoryAllocation", cudaGetErrorName(cudaErrorMemoryAllocation));
  EXPECT_STREQ("out of memory", cudaGetErrorString(cudaErrorMemoryAllocation));
  EXPECT_STREQ("no error", cudaGetErrorString(cudaSuccess));
  EXPECT_STREQ("unrecognized error code", cudaGetErrorName(static_cast<cudaError_t>(12345)));
}

TEST(Error, KernelsHaveMangledNames) {
  const char *name = nullptr, *of_template = nullptr;
  EXPECT_CUDA(cudaFuncGetName(&name, touch));
  EXPECT_CUDA(cudaFuncGetName(&of_template, (const void*)use_dynamic_template<1>));
  // g++ 16 puts an L before names with internal linkage.
  const auto without_l = [](std::string text) {
    const std::size_t at = text.find("_1L");
    return at == std::string::npos ? text : text.erase(at + 2, 1);
  };
  EXPECT_EQ("_ZN12_GLOBAL__N_15touchEPi", without_l(name));
  EXPECT_EQ("_ZN12_GLOBAL__N_120use_dynamic_templateILi1EEEvPi", without_l(of_template));
  EXPECT_EQ(cudaErrorInvalidValue, cudaFuncGetName(nullptr, touch));
  EXPECT_EQ(cudaErrorInvalidDeviceFunction, cudaFuncGetName(&name, (const void*)nullptr));
  int local = 0;
  EXPECT_EQ(cudaErrorNotSupported, cudaFuncGetName(&name, &local));
  cudaGetLastError();
}

TEST(Error, OccupancyCountsThreadsAndSharedMemory) {
  int blocks = 0, grid = 0, block = 0;
  EXPECT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, touch, 256, 0));
  EXPECT_EQ(8, blocks);
  EXPECT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, touch, 33, 0));
  EXPECT_EQ(32, blocks);
  EXPECT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, touch, 256, 100 << 10));
  EXPECT_EQ(2, blocks);
  EXPECT_CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, use_dynamic_template<1>));
  cudaDeviceProp p;
  EXPECT_CUDA(cudaGetDeviceProperties(&p, 0));
  EXPECT_EQ(256, block);
  EXPECT_EQ(8 * p.multiProcessorCount, grid);
}

}  // namespace
