// Compares warp functions with a plain loop over lanes.
#include "support.h"

namespace {

enum Kind { kIndex, kUp, kDown, kXor };

template <class T>
__global__ void shuffle(T* out, Kind kind, int argument, int width) {
  const T value = T(threadIdx.x) + T(0.5);
  T result = T(-1);
  if (kind == kIndex) result = __shfl_sync(0xffffffff, value, argument, width);
  if (kind == kUp) result = __shfl_up_sync(0xffffffff, value, argument, width);
  if (kind == kDown) result = __shfl_down_sync(0xffffffff, value, argument, width);
  if (kind == kXor) result = __shfl_xor_sync(0xffffffff, value, argument, width);
  out[threadIdx.x] = result;
}

// Returns the lane to read from, by the rule of the CUDA programming guide.
int source(int lane, Kind kind, int argument, int width) {
  const int group = lane / width * width;
  if (kind == kIndex) return group + argument % width;
  if (kind == kUp) return lane - argument < group ? lane : lane - argument;
  if (kind == kDown) return lane + argument >= group + width ? lane : lane + argument;
  const int other = lane ^ argument;
  return other >= group + width ? lane : other;
}

template <class T>
void check_shuffles() {
  DeviceArray<T> out(64);
  for (Kind kind : {kIndex, kUp, kDown, kXor})
    for (int width : {2, 8, 32})
      for (int argument : {0, 1, 3, 16}) {
        shuffle<T><<<1, 64>>>(out, kind, argument, width);
        const std::vector<T> values = out.get();
        for (int i = 0; i < 64; ++i)
          ASSERT_EQ(T(i / 32 * 32 + source(i % 32, kind, argument, width)) + T(0.5), values[i])
              << kind << " " << width << " " << argument << " thread " << i;
      }
}

TEST(Warp, ShufflesEveryType) {
  check_shuffles<int>();
  check_shuffles<unsigned long long>();
  check_shuffles<float>();
  check_shuffles<double>();
}

__global__ void votes(unsigned* out) {
  const unsigned i = threadIdx.x;
  out[i] = __ballot_sync(0xffffffff, i % 3 == 0);
  out[blockDim.x + i] = __any_sync(0xffffffff, i == 5) + 2 * __all_sync(0xffffffff, i < 32);
}

TEST(Warp, VotesWithAShortLastWarp) {
  DeviceArray<unsigned> out(2 * 40);
  votes<<<1, 40>>>(out);
  const std::vector<unsigned> values = out.get();
  for (unsigned i = 0; i < 40; ++i) {
    unsigned wanted = 0;
    for (unsigned lane = 0; lane < (i < 32 ? 32u : 8u); ++lane)
      if ((i / 32 * 32 + lane) % 3 == 0) wanted |= 1u << lane;
    EXPECT_EQ(wanted, values[i]);
    EXPECT_EQ(i < 32 ? 3u : 0u, values[40 + i]);
  }
}

// The halves of a warp diverge. Each passes its own mask; one makes 4 calls, the other 1 call.
__global__ void diverge(int* out) {
  const int lane = threadIdx.x;
  int sum = lane;
  if (lane < 16) {
    for (int offset = 8; offset > 0; offset /= 2) sum += __shfl_xor_sync(0x0000ffffu, sum, offset);
  } else {
    sum = __shfl_sync(0xffff0000u, sum, 20);
  }
  __syncwarp();
  out[lane] = sum;
}

TEST(Warp, MasksMayDiverge) {
  DeviceArray<int> out(32);
  diverge<<<1, 32>>>(out);
  const std::vector<int> values = out.get();
  for (int lane = 0; lane < 32; ++lane) EXPECT_EQ(lane < 16 ? 120 : 20, values[lane]);
}

__global__ void match(unsigned* out) {
  const unsigned i = threadIdx.x;
  out[i] = __match_any_sync(0xffffffff, i % 3);
  int same = 0;
  out[32 + i] = __match_all_sync(0xffffffff, i / 40, &same) + same;
  out[64 + i] = __reduce_add_sync(0xffffffff, i);
  out[96 + i] = __reduce_max_sync(0xffffffff, static_cast<int>(i) - 40);
}

TEST(Warp, MatchesAndReductions) {
  DeviceArray<unsigned> out(128);
  match<<<1, 32>>>(out);
  const std::vector<unsigned> values = out.get();
  for (unsigned i = 0; i < 32; ++i) {
    unsigned same = 0;
    for (unsigned lane = i % 3; lane < 32; lane += 3) same |= 1u << lane;
    EXPECT_EQ(same, values[i]);
    EXPECT_EQ(0u, values[32 + i]) << "all lanes, and one";
    EXPECT_EQ(496u, values[64 + i]);
    EXPECT_EQ(static_cast<unsigned>(-9), values[96 + i]);
  }
}

__global__ void converge(unsigned* out) {
  unsigned mask = __activemask();
  out[threadIdx.x] = mask;
  if (threadIdx.x % 4 == 1) mask = __activemask();
  out[64 + threadIdx.x] = mask;
  if (threadIdx.x >= 48) return;
  out[128 + threadIdx.x] = __activemask();
}

TEST(Warp, ActiveLanesAreThoseThatAreThere) {
  DeviceArray<unsigned> out(192, 0);
  converge<<<1, 64>>>(out);
  const std::vector<unsigned> values = out.get();
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(0xffffffffu, values[i]);
    EXPECT_EQ(i % 4 == 1 ? 0x22222222u : 0xffffffffu, values[64 + i]);
    EXPECT_EQ(i < 32 ? 0xffffffffu : i < 48 ? 0xffffu : 0u, values[128 + i]);
  }
}

__global__ void lanes_leave(int* out) {
  if (threadIdx.x >= 20) return;
  out[threadIdx.x] = __shfl_down_sync(0xffffffff, static_cast<int>(threadIdx.x), 1);
}

TEST(Warp, LanesThatReturnedAreNotWaitedFor) {
  DeviceArray<int> out(20);
  lanes_leave<<<1, 32>>>(out);
  const std::vector<int> values = out.get();
  for (int lane = 0; lane < 19; ++lane) EXPECT_EQ(lane + 1, values[lane]);
}

__global__ void mixed_reduction(float* out) {
  __shared__ float partial[32];
  float sum = 1;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

TEST(Warp, BlockReductionInTwoSteps) {
  DeviceArray<float> out(7);
  mixed_reduction<<<7, 512>>>(out);
  for (float sum : out.get()) EXPECT_EQ(512.f, sum);
}

}  // namespace
