// Tests several devices, and several host threads that use them.
#include <cstring>
#include <thread>

#include "support.h"

namespace {

__global__ void fill(int* values, int value) {
  values[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
__global__ void copy_on_device(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }

TEST(Device, Properties) {
  cudaDeviceProp p;
  EXPECT_CUDA(cudaGetDeviceProperties(&p, 0));
  EXPECT_STREQ("hostcuda CPU emulation", p.name);
  EXPECT_EQ(1024, p.maxThreadsPerBlock);
  EXPECT_EQ(32, p.warpSize);
  EXPECT_EQ(49152u, p.sharedMemPerBlock);
  int value = 0;
  EXPECT_CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  EXPECT_EQ(p.multiProcessorCount, value);
  EXPECT_CUDA(cudaDriverGetVersion(&value));
  EXPECT_EQ(CUDART_VERSION, value);
  EXPECT_EQ(cudaErrorInvalidDevice, cudaGetDeviceProperties(&p, device_count()));
  EXPECT_EQ(cudaErrorInvalidDevice, cudaSetDevice(-1));
  EXPECT_EQ(cudaErrorInvalidDevice, cudaGetLastError());
}

TEST(Device, CountIsThatOfTheEnvironment) {
  const char* wanted = std::getenv("HOSTCUDA_DEVICES");
  EXPECT_EQ(wanted ? std::atoi(wanted) : 1, device_count());
}

TEST(Device, PeerCopiesAndAccess) {
  if (device_count() < 2) GTEST_SKIP();
  DeviceArray<int> here(64);
  fill<<<1, 64>>>(here, 5);
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_CUDA(cudaSetDevice(1));
  DeviceArray<int> there(64);
  EXPECT_CUDA(cudaMemcpyPeer(there, 1, here, 0, here.bytes()));
  EXPECT_EQ(std::vector<int>(64, 5), there.get());

  int can_access = 0;
  EXPECT_CUDA(cudaDeviceCanAccessPeer(&can_access, 1, 0));
  EXPECT_EQ(1, can_access);
  EXPECT_CUDA(cudaDeviceEnablePeerAccess(0, 0));
  EXPECT_EQ(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(0, 0));
  EXPECT_CUDA(cudaMemset(there, 0, there.bytes()));
  copy_on_device<<<1, 64>>>(there, here);
  EXPECT_EQ(std::vector<int>(64, 5), there.get());
  EXPECT_CUDA(cudaDeviceDisablePeerAccess(0));
  EXPECT_EQ(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(0));
  EXPECT_EQ(cudaErrorPeerAccessNotEnabled, cudaGetLastError());
  EXPECT_CUDA(cudaSetDevice(0));
}

TEST(Device, StreamOfAnotherDeviceIsRefused) {
  if (device_count() < 2) GTEST_SKIP();
  EXPECT_CUDA(cudaSetDevice(1));
  const Stream stream;
  EXPECT_CUDA(cudaSetDevice(0));
  DeviceArray<int> values(32, 1);
  fill<<<1, 32, 0, stream>>>(values, 2);
  EXPECT_EQ(cudaErrorInvalidResourceHandle, cudaGetLastError());
  const Event event;
  EXPECT_EQ(cudaErrorInvalidResourceHandle, cudaEventRecord(event, stream));
  EXPECT_EQ(cudaErrorInvalidResourceHandle, cudaGetLastError());
  EXPECT_CUDA(cudaEventRecord(event));
  EXPECT_CUDA(cudaStreamWaitEvent(stream, event));  // waiting for another device is allowed
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_EQ(std::vector<int>(32, 1), values.get());
}

__constant__ int offset;
__global__ void accumulate(int* values, int round) {
  __shared__ int tile[64];
  tile[threadIdx.x] = values[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  values[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x] + offset + round;
}

// Each device is used by its own host thread, which has its own current device and last error.
TEST(Device, EachHostThreadHasItsOwn) {
  const int devices = device_count();
  constexpr int kThreads = 4, kBlocks = 20, kRounds = 30;
  std::vector<std::vector<int>> results(kThreads);
  std::vector<cudaError_t> errors(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      EXPECT_CUDA(cudaSetDevice(t % devices));
      const int own_offset = t % devices;
      EXPECT_CUDA(cudaMemcpyToSymbol(offset, &own_offset, sizeof own_offset));
      const Stream stream;
      DeviceArray<int> values(64 * kBlocks, 0);
      for (int round = 0; round < kRounds; ++round)
        accumulate<<<kBlocks, 64, 0, stream>>>(values, round);
      EXPECT_CUDA(cudaStreamSynchronize(stream));
      results[t] = values.get();
      if (t == 1) fill<<<0, 1>>>(values, 0);
      errors[t] = cudaGetLastError();
    });
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t) {
    const int wanted = kRounds * (kRounds - 1) / 2 + kRounds * (t % devices);
    EXPECT_EQ(std::vector<int>(64 * kBlocks, wanted), results[t]) << t;
    EXPECT_EQ(t == 1 ? cudaErrorInvalidConfiguration : cudaSuccess, errors[t]);
  }
}

TEST(Device, AttributesOfPeers) {
  int value = -1;
  EXPECT_EQ(cudaErrorInvalidDevice,
            cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
  if (device_count() > 1) {
    EXPECT_CUDA(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
    EXPECT_EQ(1, value);
    EXPECT_CUDA(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrPerformanceRank, 1, 0));
    EXPECT_EQ(0, value);
    EXPECT_EQ(cudaErrorInvalidValue,
              cudaDeviceGetP2PAttribute(&value, static_cast<cudaDeviceP2PAttr>(9), 1, 0));
  }
  cudaGetLastError();
}

// There is no cache, so that programs do without its persisting part.
TEST(Device, NoPersistingCache) {
  cudaDeviceProp properties;
  EXPECT_CUDA(cudaGetDeviceProperties(&properties, 0));
  EXPECT_EQ(0, properties.persistingL2CacheMaxSize);
  std::size_t size = 1;
  EXPECT_CUDA(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 20));
  EXPECT_CUDA(cudaDeviceGetLimit(&size, cudaLimitPersistingL2CacheSize));
  EXPECT_EQ(0u, size);
  EXPECT_CUDA(cudaCtxResetPersistingL2Cache());
}

TEST(Device, BoxesAreCopiedBetweenDevices) {
  constexpr std::size_t kRows = 3, kRow = 8;
  const int other = device_count() - 1;
  cudaMemcpy3DPeerParms box{};
  EXPECT_CUDA(cudaMalloc3D(&box.srcPtr, make_cudaExtent(kRow, kRows, 1)));
  EXPECT_CUDA(cudaMemset3D(box.srcPtr, 5, make_cudaExtent(kRow, kRows, 1)));
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_CUDA(cudaSetDevice(other));
  DeviceArray<char> target(kRow * kRows, 0);
  box.dstPtr = make_cudaPitchedPtr(target, kRow, kRow, kRows);
  box.dstDevice = other;
  box.extent = make_cudaExtent(kRow / 2, kRows, 1);
  EXPECT_CUDA(cudaMemcpy3DPeer(&box));
  EXPECT_CUDA(cudaDeviceSynchronize());
  const std::vector<char> got = target.get();
  EXPECT_EQ((std::vector<char>{5, 5, 5, 5, 0, 0, 0, 0}),
            std::vector<char>(got.end() - kRow, got.end()));
  box.srcDevice = 99;
  EXPECT_EQ(cudaErrorInvalidDevice, cudaMemcpy3DPeerAsync(&box));
  cudaGetLastError();
  EXPECT_CUDA(cudaSetDevice(0));
  EXPECT_CUDA(cudaFree(box.srcPtr.ptr));
}

TEST(Device, HasABusAddressAndFlags) {
  const int last = device_count() - 1;
  char name[16] = {};
  int device = -1;
  EXPECT_CUDA(cudaDeviceGetPCIBusId(name, sizeof name, last));
  EXPECT_CUDA(cudaDeviceGetByPCIBusId(&device, name));
  EXPECT_EQ(last, device);
  EXPECT_EQ(cudaErrorInvalidValue, cudaDeviceGetPCIBusId(name, 5, 0));
  EXPECT_EQ(cudaErrorInvalidDevice, cudaInitDevice(99, 0, 0));
  unsigned flags = 99;
  EXPECT_CUDA(cudaSetDeviceFlags(cudaDeviceScheduleSpin));
  EXPECT_CUDA(cudaGetDeviceFlags(&flags));
  EXPECT_EQ(unsigned{cudaDeviceScheduleSpin}, flags);
  EXPECT_CUDA(cudaSetDeviceFlags(cudaDeviceScheduleAuto));
  cudaGetLastError();
}

__global__ void uses_nothing() {}

TEST(Device, SharedMemoryForANumberOfBlocks) {
  std::size_t bytes = 0;
  EXPECT_CUDA(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, uses_nothing, 4, 256));
  int blocks = 0;
  EXPECT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, uses_nothing, 256, bytes));
  EXPECT_EQ(4, blocks);
  EXPECT_EQ(cudaErrorInvalidValue,
            cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, uses_nothing, 40, 1024));
  int grid = 0, threads = 0;
  EXPECT_CUDA(cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      &grid, &threads, uses_nothing, [](int size) { return 200u * static_cast<unsigned>(size); }));
  EXPECT_EQ(256, threads);
  EXPECT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, uses_nothing, 256, 200 * 256));
  int multiprocessors = 0;
  EXPECT_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  EXPECT_EQ(blocks * multiprocessors, grid);
  cudaGetLastError();
}

}  // namespace
