// Tests allocation and copies, with pageable and with pinned memory.
#include <cmath>
#include <cstdint>
#include <vector>

#include "support.h"

namespace {

constexpr int kCount = 1000;
constexpr std::size_t kBytes = kCount * sizeof(int);

__global__ void increment(int* values) { values[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

struct Pinned {
  explicit Pinned(int value) {
    EXPECT_CUDA(cudaHostAlloc(&data, kBytes, cudaHostAllocDefault));
    for (int i = 0; i < kCount; ++i) data[i] = value;
  }
  ~Pinned() { EXPECT_CUDA(cudaFreeHost(data)); }
  int* data = nullptr;
};

TEST(Memory, FreshMemoryIsPoisoned) {
  if (!memory_is_poisoned()) GTEST_SKIP();
  const DeviceArray<float> device(100);
  for (float value : device.get()) EXPECT_TRUE(std::isnan(value));
}

TEST(Memory, IsLimited) {
  std::size_t free_before = 0, free_after = 0, total = 0;
  EXPECT_CUDA(cudaMemGetInfo(&free_before, &total));
  void* pointer = &total;
  EXPECT_EQ(cudaErrorMemoryAllocation, cudaMalloc(&pointer, total + 1));
  EXPECT_EQ(nullptr, pointer);
  EXPECT_EQ(cudaErrorMemoryAllocation, cudaGetLastError());
  {
    const DeviceArray<char> device(1 << 20);
    EXPECT_CUDA(cudaMemGetInfo(&free_after, &total));
    EXPECT_EQ(free_before - (1 << 20), free_after);
    EXPECT_EQ(cudaErrorMemoryAllocation, cudaMalloc(&pointer, free_after + 1));
    EXPECT_EQ(cudaErrorMemoryAllocation, cudaGetLastError());
  }
  EXPECT_CUDA(cudaMemGetInfo(&free_after, &total));
  EXPECT_EQ(free_before, free_after);
}

TEST(Memory, AllocatingNothingIsAllowed) {
  void* pointer = &pointer;
  EXPECT_CUDA(cudaMalloc(&pointer, 0));
  EXPECT_EQ(nullptr, pointer);
  EXPECT_CUDA(cudaFree(nullptr));
}

TEST(Memory, MemsetAndCopies) {
  DeviceArray<int> a(kCount), b(kCount);
  EXPECT_CUDA(cudaMemset(a, 0x01, kBytes));
  EXPECT_CUDA(cudaMemcpy(b, a, kBytes, cudaMemcpyDeviceToDevice));
  EXPECT_EQ(std::vector<int>(kCount, 0x01010101), b.get());
  std::vector<int> host(kCount, 3), back(kCount);
  EXPECT_CUDA(cudaMemcpy(b, host.data(), kBytes, cudaMemcpyDefault));
  EXPECT_CUDA(cudaMemcpy(back.data(), b, kBytes, cudaMemcpyDefault));
  EXPECT_EQ(host, back);
}

TEST(Memory, PageableSourceIsTakenBeforeTheCallReturns) {
  const Stream stream(cudaStreamNonBlocking);
  DeviceArray<int> device(kCount);
  std::vector<int> host(kCount, 1);
  EXPECT_CUDA(cudaMemcpyAsync(device, host.data(), kBytes, cudaMemcpyHostToDevice, stream));
  host.assign(kCount, 2);
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_EQ(std::vector<int>(kCount, 1), device.get());
}

TEST(Memory, PageableTargetIsWrittenBeforeTheCallReturns) {
  const Stream stream(cudaStreamNonBlocking);
  DeviceArray<int> device(kCount, 1);
  std::vector<int> host(kCount, 0);
  increment<<<kCount / 100, 100, 0, stream>>>(device);
  EXPECT_CUDA(cudaMemcpyAsync(host.data(), device, kBytes, cudaMemcpyDeviceToHost, stream));
  EXPECT_EQ(std::vector<int>(kCount, 2), host);
}

TEST(Memory, PinnedCopiesAreAsynchronous) {
  const Stream stream(cudaStreamNonBlocking);
  DeviceArray<int> device(kCount, 0);
  const Pinned source(1), target(5);
  EXPECT_CUDA(cudaMemcpyAsync(device, source.data, kBytes, cudaMemcpyHostToDevice, stream));
  increment<<<kCount / 100, 100, 0, stream>>>(device);
  EXPECT_CUDA(cudaMemcpyAsync(target.data, device, kBytes, cudaMemcpyDeviceToHost, stream));
  if (streams_are_lazy()) {
    EXPECT_EQ(5, target.data[0]) << "nothing has waited for the copy yet";
  }
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_EQ(2, target.data[0]);
  EXPECT_EQ(2, target.data[kCount - 1]);
}

TEST(Memory, RegisteredMemoryIsPinned) {
  const Stream stream(cudaStreamNonBlocking);
  DeviceArray<int> device(kCount, 1);
  std::vector<int> host(kCount, 5);
  EXPECT_CUDA(cudaHostRegister(host.data(), kBytes, cudaHostRegisterDefault));
  EXPECT_EQ(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(host.data(), kBytes, 0));
  EXPECT_CUDA(cudaMemcpyAsync(host.data(), device, kBytes, cudaMemcpyDeviceToHost, stream));
  if (streams_are_lazy()) {
    EXPECT_EQ(5, host[0]);
  }
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_EQ(1, host[0]);
  EXPECT_CUDA(cudaHostUnregister(host.data()));
  EXPECT_EQ(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(host.data()));
  EXPECT_EQ(cudaErrorHostMemoryNotRegistered, cudaGetLastError());
}

TEST(Memory, StreamOrderedAllocation) {
  const Stream stream(cudaStreamNonBlocking);
  int* device = nullptr;
  std::size_t before = 0, after = 0, total = 0;
  EXPECT_CUDA(cudaMemGetInfo(&before, &total));
  EXPECT_CUDA(cudaMallocAsync(&device, kBytes, stream));
  EXPECT_CUDA(cudaMemsetAsync(device, 0, kBytes, stream));
  increment<<<kCount / 100, 100, 0, stream>>>(device);
  std::vector<int> host(kCount);
  EXPECT_CUDA(cudaMemcpyAsync(host.data(), device, kBytes, cudaMemcpyDeviceToHost, stream));
  EXPECT_CUDA(cudaFreeAsync(device, stream));
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_EQ(std::vector<int>(kCount, 1), host);
  EXPECT_CUDA(cudaMemGetInfo(&after, &total));
  EXPECT_EQ(before, after);
}

TEST(Memory, Pools) {
  cudaMemPool_t pool = nullptr, current = nullptr, made = nullptr;
  EXPECT_CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
  EXPECT_CUDA(cudaDeviceGetMemPool(&current, 0));
  EXPECT_EQ(pool, current);
  EXPECT_EQ(cudaErrorInvalidDevice, cudaDeviceGetDefaultMemPool(&pool, device_count()));
  std::uint64_t threshold = UINT64_MAX, got = 0;
  EXPECT_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  EXPECT_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
  EXPECT_EQ(threshold, got);
  int reuse = 0;
  EXPECT_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse));
  EXPECT_EQ(1, reuse);
  EXPECT_EQ(cudaErrorNotSupported,
            cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &got));
  cudaMemPoolProps properties{};
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemPoolCreate(&made, &properties));
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  EXPECT_CUDA(cudaMemPoolCreate(&made, &properties));
  EXPECT_CUDA(cudaDeviceSetMemPool(0, made));
  const Stream stream(cudaStreamNonBlocking);
  int *device = nullptr, host = 0;
  EXPECT_CUDA(cudaMallocFromPoolAsync(&device, sizeof host, made, stream));
  EXPECT_CUDA(cudaMemsetAsync(device, 1, sizeof host, stream));
  EXPECT_CUDA(cudaMemcpyAsync(&host, device, sizeof host, cudaMemcpyDeviceToHost, stream));
  EXPECT_CUDA(cudaFreeAsync(device, stream));
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_EQ(0x01010101, host);
  EXPECT_CUDA(cudaMemPoolTrimTo(made, 0));
  EXPECT_CUDA(cudaMemPoolDestroy(made));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemPoolDestroy(pool));
  EXPECT_CUDA(cudaDeviceGetMemPool(&current, 0));
  EXPECT_EQ(pool, current);
  cudaGetLastError();
}

TEST(Memory, CopiesThatCannotBeAreRefused) {
  DeviceArray<int> device(kCount, 1);
  std::vector<int> host(2 * kCount);
  const auto refused = [&](void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
    EXPECT_EQ(cudaErrorInvalidValue, cudaMemcpy(to, from, size, kind));
    EXPECT_EQ(cudaErrorInvalidValue, cudaGetLastError());
  };
  refused(device, host.data(), kBytes + 1, cudaMemcpyHostToDevice);           // past the end
  refused(host.data(), device + kCount / 2, kBytes, cudaMemcpyDeviceToHost);  // also past the end
  refused(host.data(), device, kBytes, cudaMemcpyHostToDevice);               // wrong direction
  refused(device, host.data(), kBytes, cudaMemcpyDeviceToDevice);
  refused(nullptr, device, kBytes, cudaMemcpyDeviceToHost);
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemset(host.data(), 0, 4));
  EXPECT_EQ(cudaErrorInvalidValue, cudaFree(host.data()));
  EXPECT_EQ(cudaErrorInvalidValue, cudaFreeHost(host.data()));
  EXPECT_EQ(cudaErrorInvalidMemcpyDirection,
            cudaMemcpy(device, host.data(), 4, static_cast<cudaMemcpyKind>(9)));
  cudaGetLastError();
}

TEST(Memory, ManagedMemoryIsForBoth) {
  int* values = nullptr;
  EXPECT_CUDA(cudaMallocManaged(&values, kBytes));
  for (int i = 0; i < kCount; ++i) values[i] = i;
  increment<<<kCount / 100, 100>>>(values);
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(kCount, values[kCount - 1]);
  EXPECT_CUDA(cudaFree(values));
}

__global__ void add_one(int* value) { ++*value; }

// A kernel of another device may access a pool's memory only if the pool permits it.
TEST(Memory, AccessToPools) {
  if (device_count() < 2) GTEST_SKIP();
  cudaMemPool_t pool = nullptr;
  EXPECT_CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
  cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtReadWrite};
  cudaMemAccessFlags flags;
  EXPECT_CUDA(cudaMemPoolGetAccess(&flags, pool, &access.location));
  EXPECT_EQ(cudaMemAccessFlagsProtNone, flags);
  EXPECT_CUDA(cudaMemPoolSetAccess(pool, &access, 1));
  EXPECT_CUDA(cudaMemPoolGetAccess(&flags, pool, &access.location));
  EXPECT_EQ(cudaMemAccessFlagsProtReadWrite, flags);
  int *value = nullptr, host = 4;
  EXPECT_CUDA(cudaMallocAsync(&value, sizeof host, nullptr));
  EXPECT_CUDA(cudaMemcpy(value, &host, sizeof host, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaSetDevice(1));
  add_one<<<1, 1>>>(value);
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_CUDA(cudaSetDevice(0));
  EXPECT_CUDA(cudaMemcpy(&host, value, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT_EQ(5, host);
  EXPECT_CUDA(cudaFreeAsync(value, nullptr));
  EXPECT_CUDA(cudaStreamSynchronize(nullptr));
  access.flags = cudaMemAccessFlagsProtNone;
  EXPECT_CUDA(cudaMemPoolSetAccess(pool, &access, 1));
  access.location.id = 0;
  EXPECT_EQ(cudaErrorInvalidDevice, cudaMemPoolSetAccess(pool, &access, 1));  // its own device
  cudaGetLastError();
}

TEST(Memory, PinnedMemoryIsFilled) {
  int* pinned = nullptr;
  EXPECT_CUDA(cudaMallocHost(&pinned, sizeof(int)));
  EXPECT_CUDA(cudaMemset(pinned, 1, sizeof(int)));
  EXPECT_EQ(0x01010101, *pinned);
  EXPECT_CUDA(cudaFreeHost(pinned));
  int pageable = 0;
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemset(&pageable, 1, sizeof(int)));
}

}  // namespace
