// Tests functions that third-party programs use: pitched memory, hints, callbacks, intrinsics,
// cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <math_constants.h>
#include <nvtx3/nvToolsExt.h>

#include "support.h"

namespace {

namespace cg = cooperative_groups;

static_assert(sizeof(uchar4) == 4 && alignof(uchar4) == 4 && sizeof(short2) == 4);
static_assert(sizeof(longlong2) == 16 && alignof(longlong4) == 16 && sizeof(char3) == 3);

__global__ void add_row_number(float* values, std::size_t pitch) {
  float* row = reinterpret_cast<float*>(reinterpret_cast<char*>(values) + blockIdx.x * pitch);
  row[threadIdx.x] += static_cast<float>(blockIdx.x);
}

TEST(Surface, PitchedMemory) {
  constexpr int kWidth = 5, kHeight = 3;
  constexpr std::size_t kRow = kWidth * sizeof(float);
  float* device = nullptr;
  std::size_t pitch = 0;
  EXPECT_CUDA(cudaMallocPitch(&device, &pitch, kRow, kHeight));
  EXPECT_EQ(512u, pitch);
  std::vector<float> host(kWidth * kHeight, 1), back(kWidth * kHeight);
  EXPECT_CUDA(
      cudaMemcpy2D(device, pitch, host.data(), kRow, kRow, kHeight, cudaMemcpyHostToDevice));
  add_row_number<<<kHeight, kWidth>>>(device, pitch);
  EXPECT_CUDA(
      cudaMemcpy2D(back.data(), kRow, device, pitch, kRow, kHeight, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kWidth * kHeight; ++i) EXPECT_EQ(1.0f + i / kWidth, back[i]);
  EXPECT_CUDA(cudaMemset2D(device, pitch, 0, kRow, kHeight));
  EXPECT_EQ(cudaErrorInvalidPitchValue,
            cudaMemcpy2D(device, 8, host.data(), kRow, kRow, kHeight, cudaMemcpyHostToDevice));
  EXPECT_EQ(cudaErrorInvalidPitchValue, cudaGetLastError());
  EXPECT_CUDA(cudaFree(device));
}

TEST(Surface, HintsAreChecked) {
  int* managed = nullptr;
  EXPECT_CUDA(cudaMallocManaged(&managed, 400));
  EXPECT_CUDA(cudaMemPrefetchAsync(managed, 400, cudaCpuDeviceId));
  EXPECT_CUDA(cudaMemAdvise(managed, 400, cudaMemAdviseSetReadMostly, 0));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemPrefetchAsync(managed, 404, 0));
  EXPECT_EQ(cudaErrorInvalidDevice, cudaMemPrefetchAsync(managed, 400, 99));
  cudaPointerAttributes attributes;
  EXPECT_CUDA(cudaPointerGetAttributes(&attributes, managed + 1));
  EXPECT_EQ(cudaMemoryTypeManaged, attributes.type);
  EXPECT_CUDA(cudaFree(managed));
  std::size_t heap = 0;
  EXPECT_CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
  EXPECT_CUDA(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
  EXPECT_EQ(std::size_t{1 << 20}, heap);
  cudaGetLastError();
}

__global__ void increment_managed(int* value) { ++*value; }

TEST(Surface, MappedMemoryAndCallbacks) {
  int* host = nullptr;
  int* device = nullptr;
  EXPECT_CUDA(cudaHostAlloc(&host, sizeof *host, cudaHostAllocMapped));
  EXPECT_CUDA(cudaHostGetDevicePointer(&device, host, 0));
  *host = 5;
  increment_managed<<<1, 1>>>(device);
  EXPECT_CUDA(cudaStreamAddCallback(
      nullptr,
      [](cudaStream_t, cudaError_t error, void* data) {
        if (error == cudaSuccess) *static_cast<int*>(data) *= 10;
      },
      host, 0));
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(60, *host);
  EXPECT_CUDA(cudaFreeHost(host));
}

__global__ void wrap(unsigned* counter, unsigned* down) {
  atomicInc(counter, 6);
  atomicDec(down, 6);
}

TEST(Surface, Intrinsics) {
  DeviceArray<unsigned> counters(2, 0);
  wrap<<<1, 10>>>(counters, counters + 1);
  EXPECT_EQ((std::vector<unsigned>{3, 4}), counters.get());
  EXPECT_EQ(-6, __mul24(-2, 3));
  EXPECT_EQ(1, __mulhi(1 << 30, 4));
  EXPECT_EQ(0x44332211u, __byte_perm(0x44332211u, 0, 0x3210));
  EXPECT_EQ(0x88112233u, __byte_perm(0x44332211u, 0x88776655u, 0x7012));
  EXPECT_EQ(0x55443322u, __byte_perm(0x44332211u, 0x88776655u, 0xcba9));
  EXPECT_EQ(0x23456789u, __funnelshift_l(0x9abcdef0u, 0x12345678u, 4));
  EXPECT_LT(__fadd_rd(1.0f, 1e-9f), __fadd_ru(1.0f, 1e-9f));
  EXPECT_EQ(1.0f, __fadd_rz(1.0f, 1e-9f));
  EXPECT_EQ(1.0, __hiloint2double(__double2hiint(1.0), __double2loint(1.0)));
  EXPECT_NEAR(0.5, normcdf(0.0), 1e-15);
}

__global__ void sums(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto four = cg::tiled_partition<4>(warp);
  const int rank = static_cast<int>(block.thread_rank());
  out[rank] = cg::reduce(warp, rank, cg::plus<int>());
  out[64 + rank] = cg::inclusive_scan(four, 1) + 10 * cg::exclusive_scan(four, 1);
  out[128 + rank] = four.shfl_down(rank, 1) + static_cast<int>(100 * four.meta_group_rank());
  out[192 + rank] = static_cast<int>(cg::tiled_partition(warp, 8).thread_rank());
  block.sync();
  if (rank % 3 == 0) {
    const cg::coalesced_group group = cg::coalesced_threads();
    out[256 + rank] = static_cast<int>(group.size() * 100 + group.thread_rank());
  }
}

TEST(Surface, CooperativeGroups) {
  DeviceArray<int> out(320, -1);
  sums<<<1, 64>>>(out);
  const std::vector<int> values = out.get();
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(i < 32 ? 496 : 496 + 1024, values[i]);
    EXPECT_EQ(i % 4 + 1 + 10 * (i % 4), values[64 + i]);
    EXPECT_EQ((i % 4 == 3 ? i : i + 1) + 100 * (i % 32 / 4), values[128 + i]);
    EXPECT_EQ(i % 8, values[192 + i]);
    const int first = i < 32 ? 0 : 33, size = i < 32 ? 11 : 11;
    EXPECT_EQ(i % 3 ? -1 : size * 100 + (i - first) / 3, values[256 + i]);
  }
}

}  // namespace
