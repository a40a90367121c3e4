// Tests cuda::barrier, cuda::pipeline and the older functions for asynchronous copies.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <cuda/cmath>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/span>

#include "support.h"

namespace {

namespace groups = cooperative_groups;
constexpr int kThreads = 64, kRounds = 3;
using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

// Each kernel reverses the elements of every round.
void expect_reversed(void (*kernel)(const int*, int*)) {
  std::vector<int> values(kThreads * kRounds);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
  DeviceArray<int> in(values.size()), out(values.size(), 0);
  in.set(values);
  kernel<<<2, kThreads>>>(in, out);
  const std::vector<int> got = out.get();
  for (int i = 0; i < kThreads * kRounds; ++i)
    ASSERT_EQ(i / kThreads * kThreads + kThreads - 1 - i % kThreads, got[i]) << i;
}

__global__ void by_barrier(const int* in, int* out) {
  __shared__ BlockBarrier barrier;
  __shared__ int tile[kThreads];
  const auto block = groups::this_thread_block();
  if (block.thread_rank() == 0) init(&barrier, block.size());
  block.sync();
  for (int round = 0; round < kRounds; ++round) {
    cuda::memcpy_async(block, tile, in + kThreads * round, sizeof tile, barrier);
    barrier.arrive_and_wait();
    out[kThreads * round + threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
  }
}

__global__ void by_pipeline(const int* in, int* out) {
  __shared__ int tile[2][kThreads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const auto block = groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int round = 0; round < kRounds + 1; ++round) {
    if (round < kRounds) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, tile[round % 2], in + kThreads * round,
                         cuda::aligned_size_t<16>(sizeof tile[0]), pipe);
      pipe.producer_commit();
    }
    if (round == 0) continue;
    pipe.consumer_wait();
    const int* const ready = tile[(round - 1) % 2];
    out[kThreads * (round - 1) + threadIdx.x] = ready[kThreads - 1 - threadIdx.x];
    pipe.consumer_release();
  }
}

__global__ void by_primitives(const int* in, int* out) {
  __shared__ int tile[kRounds][kThreads];
  for (int round = 0; round < kRounds; ++round) {
    __pipeline_memcpy_async(&tile[round][threadIdx.x], &in[kThreads * round + threadIdx.x],
                            sizeof(int));
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  __syncthreads();
  for (int round = 0; round < kRounds; ++round) {
    if (round == kRounds - 1) {
      __pipeline_wait_prior(0);
      __syncthreads();
    }
    out[kThreads * round + threadIdx.x] = tile[round][kThreads - 1 - threadIdx.x];
  }
}

__global__ void by_group(const int* in, int* out) {
  __shared__ int tile[kThreads];
  const auto block = groups::this_thread_block();
  for (int round = 0; round < kRounds; ++round) {
    groups::memcpy_async(block, tile, in + kThreads * round, sizeof tile);
    groups::wait(block);
    out[kThreads * round + threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
    block.sync();
  }
}

TEST(Async, CopiesArriveInTime) {
  expect_reversed(by_barrier);
  expect_reversed(by_pipeline);
  expect_reversed(by_primitives);
  expect_reversed(by_group);
}

__global__ void reads_too_early(const int* in, int* out) {
  __shared__ int tile[kThreads];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  out[threadIdx.x] = tile[threadIdx.x];
  __pipeline_wait_prior(0);
}

TEST(Async, AMissingWaitShows) {
  DeviceArray<int> in(kThreads, 5), out(kThreads, 0);
  reads_too_early<<<1, kThreads>>>(in, out);
  EXPECT_NE(std::vector<int>(kThreads, 5), out.get());
}

__global__ void drops_out(int* phases) {
  __shared__ BlockBarrier barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (unsigned round = 0; round < blockDim.x; ++round) {
    if (threadIdx.x == round) return barrier.arrive_and_drop();
    barrier.arrive_and_wait();
    if (threadIdx.x == blockDim.x - 1) ++*phases;
  }
}

TEST(Async, ThreadsMayDropOutOfABarrier) {
  DeviceArray<int> phases(1, 0);
  drops_out<<<1, 8>>>(phases);
  EXPECT_EQ(std::vector<int>{7}, phases.get());
}

__global__ void sum_span(cuda::std::span<const int> in, cuda::std::span<int> out) {
  int sum = 0;
  for (const int value : in) sum += value;
  out[0] = sum;
  out.last(1)[0] = in.subspan(1, 2).front();
  out.last<1>()[0] +=
      10 * in.first<2>()[1] + 100 * in.subspan<1, 2>()[1] + 1000 * in.subspan<2>()[0];
  __builtin_assume(sum > 0);
  __assume(sum < 1000);
}

TEST(Libcu, SpanAndIntegerDivision) {
  static_assert(cuda::ceil_div(10, 4) == 3 && cuda::ceil_div(8u, 4) == 2);
  static_assert(cuda::round_up(10, 4) == 12 && cuda::round_down(10, 4) == 8);
  std::vector<int> values{1, 2, 3};
  const cuda::std::span<const int> all(values);
  EXPECT_EQ(3u, all.size());
  static_assert(decltype(all.first<2>())::extent == 2 &&
                decltype(all.subspan<1, 1>())::extent == 1);
  DeviceArray<int> in(3), out(2);
  in.set(values);
  const int* from = in;
  int* to = out;
  sum_span<<<1, 1>>>(cuda::std::span<const int>(from, 3), cuda::std::span<int>(to, 2));
  EXPECT_EQ((std::vector<int>{6, 3322}), out.get());
}

// Warps of producers fill the stages of the pipeline for the threads that read them.
__global__ void by_roles(const int* in, int* out, int rounds) {
  constexpr unsigned kStages = 2;
  __shared__ int tile[kStages][kThreads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const auto block = groups::this_thread_block();
  const bool produces = threadIdx.x >= kThreads;
  auto pipe = cuda::make_pipeline(
      block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  for (int round = 0; round < rounds; ++round) {
    int* const stage = tile[round % kStages];
    if (produces) {
      pipe.producer_acquire();
      for (int i = static_cast<int>(threadIdx.x) - kThreads; i < kThreads; i += 32)
        cuda::memcpy_async(stage + i, in + kThreads * round + i,
                           cuda::aligned_size_t<4>(sizeof(int)), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      out[kThreads * round + threadIdx.x] = stage[kThreads - 1 - threadIdx.x];
      pipe.consumer_release();
    }
  }
}

TEST(Async, ProducersAndConsumers) {
  constexpr int kManyRounds = 9;
  std::vector<int> values(kThreads * kManyRounds);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
  DeviceArray<int> in(values.size()), out(values.size(), 0);
  in.set(values);
  by_roles<<<2, kThreads + 32>>>(in, out, kManyRounds);
  const std::vector<int> got = out.get();
  for (int i = 0; i < kThreads * kManyRounds; ++i)
    ASSERT_EQ(i / kThreads * kThreads + kThreads - 1 - i % kThreads, got[i]) << i;
}

// Waits for the first of two stages, releases it, and waits for the second.
__global__ void by_stages(const int* in, int* out) {
  __shared__ int tile[2][32];
  const int t = static_cast<int>(threadIdx.x);
  auto pipe = cuda::make_pipeline();
  for (int stage = 0; stage < 2; ++stage) {
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[stage][t], &in[32 * stage + t], sizeof(int), pipe);
    pipe.producer_commit();
  }
  cuda::pipeline_consumer_wait_prior<1>(pipe);
  __syncthreads();
  out[t] = tile[0][31 - t];
  pipe.consumer_release();
  pipe.consumer_wait();
  __syncthreads();
  out[32 + t] = tile[1][31 - t];
  pipe.consumer_release();
}

TEST(Pipeline, AWaitAfterAReleaseIsForTheNextStage) {
  std::vector<int> values(64), wanted(64);
  for (int k = 0; k < 64; ++k) values[k] = k, wanted[k] = k / 32 * 32 + 31 - k % 32;
  DeviceArray<int> in(64), out(64);
  in.set(values);
  by_stages<<<1, 32>>>(in, out);
  EXPECT_EQ(wanted, out.get());
}

// Only two threads at a time may be between acquire() and release().
__global__ void two_at_a_time(int* most, int* sum) {
  using Semaphore = cuda::counting_semaphore<cuda::thread_scope_block, 2>;
  using Lock = cuda::binary_semaphore<cuda::thread_scope_block>;
  __shared__ alignas(Semaphore) char room[sizeof(Semaphore)], room_of_lock[sizeof(Lock)];
  __shared__ int inside;
  auto* const semaphore = reinterpret_cast<Semaphore*>(room);
  auto* const lock = reinterpret_cast<Lock*>(room_of_lock);
  if (threadIdx.x == 0) {
    new (semaphore) Semaphore(2);
    new (lock) Lock(1);
    inside = 0;
  }
  __syncthreads();
  semaphore->acquire();
  atomicMax(most, atomicAdd(&inside, 1) + 1);
  __nanosleep(10);
  lock->acquire();
  *sum += static_cast<int>(threadIdx.x);
  lock->release();
  atomicSub(&inside, 1);
  semaphore->release();
}

TEST(Semaphore, LetsAFewThreadsIn) {
  DeviceArray<int> most(1, 0), sum(1, 0);
  two_at_a_time<<<1, kThreads>>>(most, sum);
  EXPECT_EQ(2, most.get()[0]);
  EXPECT_EQ(kThreads * (kThreads - 1) / 2, sum.get()[0]);
}

__global__ void by_latch(int* out) {
  using Latch = cuda::latch<cuda::thread_scope_block>;
  __shared__ alignas(Latch) char room[sizeof(Latch)];
  __shared__ int value;
  auto* const latch = reinterpret_cast<Latch*>(room);
  if (threadIdx.x == 0) new (latch) Latch(33);
  __syncthreads();
  if (threadIdx.x == 0) {
    value = latch->try_wait() ? 1 : 7;
    latch->count_down();
  }
  threadIdx.x < 32 ? latch->arrive_and_wait() : latch->wait();
  out[threadIdx.x] = value;
}

TEST(Latch, OpensOnce) {
  DeviceArray<int> out(kThreads);
  by_latch<<<1, kThreads>>>(out);
  EXPECT_EQ(std::vector<int>(kThreads, 7), out.get());
}

}  // namespace
