// Tests the hints about managed memory, and the queries for them.
#include "support.h"

namespace {

class ManagedHints : public testing::Test {
 protected:
  static constexpr std::size_t kSize = 1 << 20;
  void SetUp() override { EXPECT_CUDA(cudaMallocManaged(&memory, kSize)); }
  void TearDown() override {
    EXPECT_CUDA(cudaFree(memory));
    cudaGetLastError();
  }
  int attribute(cudaMemRangeAttribute which, std::size_t from = 0, std::size_t size = kSize) const {
    int value = -99;
    EXPECT_CUDA(cudaMemRangeGetAttribute(&value, sizeof value, which, memory + from, size));
    return value;
  }
  char* memory = nullptr;
};

TEST_F(ManagedHints, AreUnsetAtFirst) {
  EXPECT_EQ(0, attribute(cudaMemRangeAttributeReadMostly));
  EXPECT_EQ(cudaInvalidDeviceId, attribute(cudaMemRangeAttributePreferredLocation));
  EXPECT_EQ(cudaInvalidDeviceId, attribute(cudaMemRangeAttributeAccessedBy));
  EXPECT_EQ(cudaInvalidDeviceId, attribute(cudaMemRangeAttributeLastPrefetchLocation));
}

TEST_F(ManagedHints, CanBeQueried) {
  EXPECT_CUDA(cudaMemAdvise(memory, kSize, cudaMemAdviseSetReadMostly, 0));
  EXPECT_CUDA(cudaMemAdvise(memory, kSize, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
  EXPECT_CUDA(cudaMemAdvise(memory, kSize, cudaMemAdviseSetAccessedBy, 0));
  EXPECT_CUDA(cudaMemPrefetchAsync(memory, kSize, 0));
  int read_mostly = 0, preferred = 0, prefetched = 9, accessed[3] = {};
  void* data[] = {&read_mostly, &preferred, &prefetched, accessed};
  std::size_t sizes[] = {4, 4, 4, sizeof accessed};
  cudaMemRangeAttribute which[] = {
      cudaMemRangeAttributeReadMostly, cudaMemRangeAttributePreferredLocation,
      cudaMemRangeAttributeLastPrefetchLocation, cudaMemRangeAttributeAccessedBy};
  EXPECT_CUDA(cudaMemRangeGetAttributes(data, sizes, which, 4, memory, kSize));
  EXPECT_EQ(1, read_mostly);
  EXPECT_EQ(cudaCpuDeviceId, preferred);
  EXPECT_EQ(0, prefetched);
  EXPECT_EQ(0, accessed[0]);
  EXPECT_EQ(cudaInvalidDeviceId, accessed[1]);
  EXPECT_EQ(cudaMemLocationTypeHost, attribute(cudaMemRangeAttributePreferredLocationType));
  EXPECT_EQ(cudaMemLocationTypeDevice, attribute(cudaMemRangeAttributeLastPrefetchLocationType));
  EXPECT_CUDA(cudaMemAdvise(memory, kSize, cudaMemAdviseUnsetAccessedBy, 0));
  EXPECT_EQ(cudaInvalidDeviceId, attribute(cudaMemRangeAttributeAccessedBy));
}

TEST_F(ManagedHints, HoldForTheirPartOfTheMemory) {
  EXPECT_CUDA(cudaMemPrefetchAsync(memory, kSize / 2, 0));
  EXPECT_EQ(0, attribute(cudaMemRangeAttributeLastPrefetchLocation, 0, kSize / 2));
  EXPECT_EQ(0, attribute(cudaMemRangeAttributeLastPrefetchLocation, 4096, 4096));
  EXPECT_EQ(cudaInvalidDeviceId, attribute(cudaMemRangeAttributeLastPrefetchLocation));
  EXPECT_CUDA(cudaMemPrefetchAsync(memory + kSize / 2, kSize / 2, 0));
  EXPECT_EQ(0, attribute(cudaMemRangeAttributeLastPrefetchLocation));
}

TEST_F(ManagedHints, WrongQueriesAreRefused) {
  int value = 0;
  const auto query = [&](std::size_t bytes, int which, const void* at, std::size_t size) {
    return cudaMemRangeGetAttribute(&value, bytes, static_cast<cudaMemRangeAttribute>(which), at,
                                    size);
  };
  const DeviceArray<int> device(4);
  EXPECT_EQ(cudaErrorInvalidValue, query(4, cudaMemRangeAttributeReadMostly, device, 16));
  EXPECT_EQ(cudaErrorInvalidValue, query(8, cudaMemRangeAttributeReadMostly, memory, kSize));
  EXPECT_EQ(cudaErrorInvalidValue, query(6, cudaMemRangeAttributeAccessedBy, memory, kSize));
  EXPECT_EQ(cudaErrorInvalidValue, query(4, 99, memory, kSize));
  EXPECT_EQ(cudaErrorInvalidValue, query(4, cudaMemRangeAttributeReadMostly, memory, kSize + 1));
}

__managed__ int managed_number = 5;
__device__ __managed__ float managed_numbers[3];
__global__ void add_to_managed() { managed_numbers[2] = static_cast<float>(++managed_number); }

TEST(ManagedVariable, IsManagedMemory) {
  managed_number = 6;
  add_to_managed<<<1, 1>>>();
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(7, managed_number);
  EXPECT_EQ(7, managed_numbers[2]);
  cudaPointerAttributes attributes;
  EXPECT_CUDA(cudaPointerGetAttributes(&attributes, &managed_numbers[1]));
  EXPECT_EQ(cudaMemoryTypeManaged, attributes.type);
  EXPECT_CUDA(cudaMemPrefetchAsync(&managed_number, sizeof managed_number, 0));
  EXPECT_CUDA(cudaMemset(managed_numbers, 0, sizeof managed_numbers));
  const int value = 9;
  EXPECT_CUDA(cudaMemcpy(&managed_number, &value, sizeof value, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(0, managed_numbers[2]);
  EXPECT_EQ(9, managed_number);
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemset(managed_numbers, 0, sizeof managed_numbers + 1));
  EXPECT_EQ(cudaErrorInvalidValue, cudaFree(&managed_number));
  cudaGetLastError();
}

TEST(PinnedMemory, KeepsItsFlags) {
  int* pinned = nullptr;
  EXPECT_CUDA(cudaHostAlloc(&pinned, 4, cudaHostAllocMapped | cudaHostAllocPortable));
  unsigned flags = 0;
  EXPECT_CUDA(cudaHostGetFlags(&flags, pinned));
  EXPECT_EQ(unsigned{cudaHostAllocMapped | cudaHostAllocPortable}, flags);
  EXPECT_EQ(cudaErrorInvalidValue, cudaHostGetFlags(&flags, &flags));
  EXPECT_CUDA(cudaFreeHost(pinned));
  cudaGetLastError();
}

}  // namespace
