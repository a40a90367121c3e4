// Tests launches, built-in variables, shared memory, barriers and atomics.
#include <omp.h>

#include <numeric>
#include <set>

#include "support.h"

namespace {

struct Place {
  uint3 thread, block;
  dim3 block_size, grid_size;
};

__global__ void record_place(Place* places) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  places[block * blockDim.x * blockDim.y * blockDim.z + thread] = {threadIdx, blockIdx, blockDim,
                                                                   gridDim};
}

TEST(Kernel, KnowsItsPlace) {
  const dim3 grid(3, 2, 4), block(5, 3, 2);
  DeviceArray<Place> device(24 * 30);
  record_place<<<grid, block>>>(device);
  std::set<std::vector<unsigned>> seen;
  for (const Place& p : device.get()) {
    EXPECT_TRUE(p.block_size.x == 5 && p.block_size.y == 3 && p.block_size.z == 2);
    EXPECT_TRUE(p.grid_size.x == 3 && p.grid_size.y == 2 && p.grid_size.z == 4);
    EXPECT_TRUE(p.thread.x < 5 && p.thread.y < 3 && p.thread.z < 2);
    seen.insert({p.thread.x, p.thread.y, p.thread.z, p.block.x, p.block.y, p.block.z});
  }
  EXPECT_EQ(24u * 30u, seen.size());
}

template <int kTile>
__global__ void reverse_static(const int* in, int* out) {
  __shared__ int tile[kTile];
  const unsigned i = blockIdx.x * kTile + threadIdx.x;
  tile[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = tile[kTile - 1 - threadIdx.x];
}

__global__ void reverse_dynamic(const int* in, int* out) {
  extern __shared__ int tile[];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = tile[blockDim.x - 1 - threadIdx.x];
}

std::vector<int> counting(int n) {
  std::vector<int> values(n);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(Kernel, SharedMemoryBelongsToABlock) {
  constexpr int kTile = 64, kBlocks = 37;
  DeviceArray<int> in(kTile * kBlocks), out(kTile * kBlocks);
  in.set(counting(kTile * kBlocks));
  for (const bool dynamic : {false, true}) {
    EXPECT_CUDA(cudaMemset(out, 0, out.bytes()));
    if (dynamic)
      reverse_dynamic<<<kBlocks, kTile, kTile * sizeof(int)>>>(in, out);
    else
      reverse_static<kTile><<<kBlocks, kTile>>>(in, out);
    const std::vector<int> values = out.get();
    for (int i = 0; i < kTile * kBlocks; ++i)
      ASSERT_EQ(i / kTile * kTile + kTile - 1 - i % kTile, values[i]);
  }
}

// Launched with blocks of different sizes: one thread, incomplete warps, the largest block.
__global__ void block_sum(int* out) {
  __shared__ int partial[1024];
  partial[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;
    if (threadIdx.x + half < width) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
    width = half;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

TEST(Kernel, BarriersHoldForEveryBlockSize) {
  DeviceArray<int> out(5);
  for (int threads : {1, 2, 31, 32, 33, 100, 255, 256, 1000, 1024}) {
    block_sum<<<5, threads>>>(out);
    for (int sum : out.get()) ASSERT_EQ(threads * (threads + 1) / 2, sum) << threads;
  }
}

__global__ void poisoned(float* fixed, float* dynamic_out) {
  __shared__ float values[4];
  extern __shared__ float dynamic_values[];
  fixed[blockIdx.x] = values[3];
  dynamic_out[blockIdx.x] = dynamic_values[3];
  values[3] = dynamic_values[3] = 1;  // the next block must not see these values
}

TEST(Kernel, SharedMemoryIsPoisonedForEachBlock) {
  if (!memory_is_poisoned()) GTEST_SKIP();
  DeviceArray<float> a(8), b(8);
  poisoned<<<8, 1, 4 * sizeof(float)>>>(a, b);
  for (float value : a.get()) EXPECT_TRUE(std::isnan(value));
  for (float value : b.get()) EXPECT_TRUE(std::isnan(value));
}

__global__ void some_return_early(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = i;
}

TEST(Kernel, ThreadsMayReturnEarly) {
  DeviceArray<int> out(100);
  some_return_early<<<4, 32>>>(out, 100);
  EXPECT_EQ(counting(100), out.get());
}

template <class T>
__global__ void atomics(T* cell) {
  atomicAdd(&cell[0], T(1));
  if constexpr (std::is_integral_v<T>) {
    const T i = T(blockIdx.x * blockDim.x + threadIdx.x);
    atomicMax(&cell[1], i);
    atomicMin(&cell[2], i);
    // Adds without a lock, by compare-and-swap.
    T seen = cell[3], before;
    do {
      before = seen;
      seen = atomicCAS(&cell[3], before, T(before + 2));
    } while (seen != before);
  }
  if (blockIdx.x + threadIdx.x == 0) cell[5] = atomicExch(&cell[4], T(7));
}

template <class T>
class Atomics : public testing::Test {};
using AtomicTypes = testing::Types<int, unsigned, unsigned long long, float>;
TYPED_TEST_SUITE(Atomics, AtomicTypes);

TYPED_TEST(Atomics, LoseNothing) {
  using T = TypeParam;
  DeviceArray<T> device(6);
  device.set({0, 0, 1000, 0, 5, 0});
  atomics<<<100, 64>>>(static_cast<T*>(device));
  const std::vector<T> cell = device.get();
  EXPECT_EQ(T(6400), cell[0]);
  if constexpr (std::is_integral_v<T>) {
    EXPECT_EQ(T(6399), cell[1]);
    EXPECT_EQ(T(0), cell[2]);
    EXPECT_EQ(T(12800), cell[3]);
  }
  EXPECT_EQ(T(7), cell[4]);
  EXPECT_EQ(T(5), cell[5]);
}

__global__ void count_even(int* out) {
  const int even = threadIdx.x % 2 == 0;
  out[threadIdx.x] = __syncthreads_count(even) + 1000 * __syncthreads_and(even < 2) +
                     2000 * __syncthreads_or(threadIdx.x > 98) + 4000 * __syncthreads_and(even);
}

TEST(Kernel, BarriersCount) {
  DeviceArray<int> out(99);
  count_even<<<1, 99>>>(out);
  EXPECT_EQ(std::vector<int>(99, 50 + 1000), out.get());
}

// An argument of class type. The host copies the argument once and destroys the copy when the
// launch returns. Each thread gets its own copy of the bytes.
struct Noisy {
  int value = 7;
  int* copies;
  int* deaths;
  Noisy(int* copies, int* deaths) : copies(copies), deaths(deaths) {}
  Noisy(const Noisy& other) : value(other.value), copies(other.copies), deaths(other.deaths) {
    ++*copies;
  }
  ~Noisy() { ++*deaths; }
};
__global__ void take(Noisy noisy, float before, int* out) {
  out[threadIdx.x] = ++noisy.value + (before < 2);
}

TEST(Kernel, ClassArgumentsAreBytes) {
  int copies = 0, deaths = 0;
  DeviceArray<int> out(64);
  {
    const Noisy noisy(&copies, &deaths);
    take<<<1, 64>>>(noisy, 1.5f, out);
    EXPECT_EQ(1, copies);
    EXPECT_EQ(1, deaths);
    EXPECT_EQ(std::vector<int>(64, 9), out.get());
  }
  EXPECT_EQ(1, copies);
  EXPECT_EQ(2, deaths);
}

// The threads of a block wait for each other with atomics. This ends because, as on a GPU, all run.
__global__ void take_turns(int* turn) {
  while (atomicCAS(turn, blockDim.x - 1 - threadIdx.x, blockDim.x - threadIdx.x) !=
         static_cast<int>(blockDim.x - 1 - threadIdx.x)) {
  }
}

TEST(Kernel, ThreadsMaySpinOnAtomics) {
  DeviceArray<int> turn(1, 0);
  take_turns<<<1, 40>>>(turn);
  EXPECT_EQ(40, turn.get()[0]);
}

__global__ void add_double(double* cell) { atomicAdd(cell, 0.5); }

TEST(Kernel, AtomicAddDouble) {
  DeviceArray<double> cell(1, 0.0);
  add_double<<<50, 33>>>(cell);
  EXPECT_EQ(825.0, cell.get()[0]);
}

// Checks that the order of execution is the one that HOSTCUDA_ORDER requests.
void expect_order(const std::vector<int>& order) {
  const std::vector<int> forward = counting(static_cast<int>(order.size()));
  const std::vector<int> reverse(forward.rbegin(), forward.rend());
  if (environment_is("HOSTCUDA_ORDER", "reverse")) {
    EXPECT_EQ(reverse, order);
  } else if (environment_is("HOSTCUDA_ORDER", "random") ||
             environment_is("HOSTCUDA_ORDER", "skewed")) {
    EXPECT_NE(forward, order);
    EXPECT_NE(reverse, order);
  } else {
    EXPECT_EQ(forward, order);
  }
}

__global__ void note_order(int* next, int* order, bool barrier) {
  if (barrier) __syncthreads();
  order[atomicAdd(next, 1)] = threadIdx.x;
}

TEST(Kernel, RunsThreadsInTheOrderAskedFor) {
  for (const bool barrier : {false, true}) {
    DeviceArray<int> next(1, 0), order(64);
    note_order<<<1, 64>>>(next, order, barrier);
    expect_order(order.get());
  }
}

__global__ void note_warps(int* next, int* order) {
  __syncthreads();
  for (int exchange = 0; exchange < 2; ++exchange) {
    if (threadIdx.x % 32 == 0) order[atomicAdd(next, 1)] = static_cast<int>(threadIdx.x) / 32;
    __syncwarp();
  }
}

// In skewed order, a warp passes both exchanges before the next warp starts. Otherwise warps
// alternate.
TEST(Kernel, LetsAWarpRunAheadIfAsked) {
  if (environment_is("HOSTCUDA_ORDER", "random")) GTEST_SKIP() << "either is possible";
  DeviceArray<int> next(1, 0), order(8);
  note_warps<<<1, 128>>>(next, order);
  const std::vector<int> came = order.get();
  for (int k = 0; k < 8; k += 2)
    EXPECT_EQ(came[k] == came[k + 1], environment_is("HOSTCUDA_ORDER", "skewed")) << k;
}

// Every warp waits for another, so a warp that runs ahead has to wait for a warp that does not.
__global__ void wait_for_each_other(volatile int* flags) {
  const unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32;
  if (threadIdx.x % 32 == 0) {
    flags[warp] = 1;
    while (flags[(warp + 1) % warps] != 1) {
    }
  }
  __syncwarp();
}

TEST(Kernel, LetsWarpsWaitForEachOther) {
  DeviceArray<int> flags(8, 0);
  wait_for_each_other<<<1, 256>>>(flags);
  EXPECT_EQ(std::vector<int>(8, 1), flags.get());
}

__global__ void note_block(int* next, int* order) { order[atomicAdd(next, 1)] = blockIdx.x; }

// Blocks that run on several threads of the operating system overtake each other. A grid as small
// as this one gets a single thread, but not on a busy machine, where its first block seems to take
// long.
TEST(Kernel, RunsBlocksInTheOrderAskedFor) {
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  DeviceArray<int> next(1, 0), order(16);
  note_block<<<16, 1>>>(next, order);
  const std::vector<int> ran = order.get();  // with HOSTCUDA_STREAMS=lazy the kernel runs only now
  omp_set_num_threads(threads);
  expect_order(ran);
}

struct Parameters {
  float* out;
  float factor[4];
};
__global__ void by_value(Parameters p, const float* __restrict__ in) {
  p.out[threadIdx.x] = p.factor[threadIdx.x] * __ldg(in + threadIdx.x);
}

TEST(Kernel, ArgumentsAreCopiedAtTheLaunch) {
  DeviceArray<float> in(4, 2.f), out(4);
  Parameters p{out, {1, 2, 3, 4}};
  by_value<<<1, 4>>>(p, in);
  p.factor[0] = 100;
  EXPECT_EQ((std::vector<float>{2, 4, 6, 8}), out.get());
}

__global__ void print(int* results) {
  results[0] = printf("no arguments, 100 %%\n");
  results[1] = printf("%d of %-5.2f, %s\n", 3, 1.5, "a text that is longer than that");
  results[2] = printf("%*d %llu\n", 5, 1, 2ull);
}

TEST(Kernel, PrintfReturnsTheNumberOfArguments) {
  DeviceArray<int> results(3);
  testing::internal::CaptureStdout();
  print<<<1, 1>>>(results);
  EXPECT_CUDA(cudaDeviceSynchronize());
  const int in_host_code = printf("%d\n", 123);
  fflush(stdout);
  EXPECT_EQ("no arguments, 100 %\n3 of 1.50 , a text that is longer than that\n    1 2\n123\n",
            testing::internal::GetCapturedStdout());
  EXPECT_EQ((std::vector<int>{0, 3, 3}), results.get());
  EXPECT_EQ(4, in_host_code);
}

template <int kFactor, class T = int>
__global__ void times(double* out, std::size_t index, T x) {
  out[index] = kFactor * x;
}
template <int kFactor, class... T>
__global__ void times_sum(double* out, T... x) {
  *out = kFactor * (x + ...);
}

TEST(Kernel, ArgumentsDeduceParametersThatHaveDefaults) {
  DeviceArray<double> out(1);
  times<3><<<1, 1>>>(out, 0, 2.5);
  EXPECT_EQ(7.5, out.get()[0]);
  times<3><<<1, 1>>>(static_cast<double*>(out), 0u, 2.5f);
  EXPECT_EQ(7.5, out.get()[0]);
  times<3><<<1, 1>>>(out, 0, 2);
  EXPECT_EQ(6, out.get()[0]);
  times_sum<2><<<1, 1>>>(out, 1, 2.5, short{4});
  EXPECT_EQ(15, out.get()[0]);
}

}  // namespace
