// Tests blocks that wait for each other: cooperative grids, clusters, distributed shared memory.
#include <cooperative_groups.h>

#include <cuda/atomic>

#include "support.h"

namespace cg = cooperative_groups;

namespace {

// In each step, every thread reads the value that the next block's last thread wrote one step
// earlier.
__global__ void pass_around(int* values, int* next, int steps) {
  __shared__ int mine[32];
  cg::grid_group grid = cg::this_grid();
  const unsigned neighbour = (blockIdx.x + 1) % gridDim.x;
  mine[threadIdx.x] = 0;
  for (int step = 0; step < steps; ++step) {
    mine[threadIdx.x] += values[neighbour * blockDim.x + blockDim.x - 1];
    __syncthreads();
    next[grid.thread_rank()] = mine[blockDim.x - 1 - threadIdx.x] + 1;
    grid.sync();
    int* const swap = values;
    values = next;
    next = swap;
  }
}

TEST(CooperativeGrid, BlocksSeeWhatOthersWroteBeforeTheBarrier) {
  constexpr int kThreads = 32, kSteps = 5;
  int sum = 0, value = 1;
  for (int step = 0; step < kSteps; ++step) {
    sum += value;
    value = sum + 1;
  }
  for (const int count : {6, 1}) {  // with 1, the grid's barrier has only one block
    DeviceArray<int> a(count * kThreads, 1), b(count * kThreads, 0);
    int *values = a, *next = b, steps = kSteps;
    void* arguments[] = {&values, &next, &steps};
    EXPECT_CUDA(cudaLaunchCooperativeKernel((void*)pass_around, dim3(count), dim3(kThreads),
                                            arguments, 0, nullptr));
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(std::vector<int>(count * kThreads, value), b.get());
  }
}

__global__ void sync_or_not(int* valid) { *valid = cg::this_grid().is_valid(); }

TEST(CooperativeGrid, KnowsHowItWasLaunched) {
  DeviceArray<int> valid(1);
  sync_or_not<<<1, 1>>>(valid);
  EXPECT_EQ(std::vector<int>{0}, valid.get());
  int* pointer = valid;
  void* arguments[] = {&pointer};
  EXPECT_CUDA(
      cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&sync_or_not), 1, 1, arguments));
  EXPECT_EQ(std::vector<int>{1}, valid.get());
}

TEST(CooperativeGrid, AllItsBlocksMustFit) {
  int blocks = 0, multiprocessors = 0, cooperative = 0;
  EXPECT_CUDA(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
  EXPECT_EQ(1, cooperative);
  EXPECT_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  EXPECT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sync_or_not, 64, 0));
  DeviceArray<int> valid(1);
  int* pointer = valid;
  void* arguments[] = {&pointer};
  const unsigned fits = blocks * multiprocessors;
  EXPECT_CUDA(cudaLaunchCooperativeKernel(sync_or_not, fits, 64, arguments));
  EXPECT_EQ(cudaErrorCooperativeLaunchTooLarge,
            cudaLaunchCooperativeKernel(sync_or_not, fits + 1, 64, arguments));
  EXPECT_EQ(cudaErrorCooperativeLaunchTooLarge, cudaGetLastError());
}

// A hand-made barrier whose threads poll, so each block has to let the other blocks run.
template <int kHow>
__global__ void own_barrier(unsigned* arrived, const volatile unsigned* seen, int* out) {
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    if constexpr (kHow == 0)
      while (*seen < gridDim.x)
        ;
    if constexpr (kHow == 1)
      while (*seen < gridDim.x) {
      }
    if constexpr (kHow == 2) do
        __threadfence();
      while (atomicAdd(arrived, 0) < gridDim.x);
    if constexpr (kHow == 3) {
      unsigned now;
      do {
        now = __ldcg(arrived);
      } while (now < gridDim.x);
    }
    if constexpr (kHow == 4)
      for (;;) {
        if (*seen == gridDim.x) break;
      }
    if constexpr (kHow == 5) {
      cuda::atomic_ref<unsigned, cuda::thread_scope_device> counter(*arrived);
      while (counter.load(cuda::memory_order_acquire) < gridDim.x)
        ;
    }
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(*seen);
}

template <int kHow>
void check_own_barrier() {
  SCOPED_TRACE(kHow);
  DeviceArray<unsigned> arrived(1, 0);
  DeviceArray<int> out(5 * 40);
  unsigned* counter = arrived;
  const volatile unsigned* seen = counter;
  int* results = out;
  void* arguments[] = {&counter, &seen, &results};
  EXPECT_CUDA(cudaLaunchCooperativeKernel(own_barrier<kHow>, 5, 40, arguments));
  EXPECT_EQ(std::vector<int>(5 * 40, 5), out.get());
}

TEST(CooperativeGrid, APollingBlockLetsOthersRun) {
  check_own_barrier<0>();
  check_own_barrier<1>();
  check_own_barrier<2>();
  check_own_barrier<3>();
  check_own_barrier<4>();
  check_own_barrier<5>();
}

cudaLaunchConfig_t configuration(dim3 grid, dim3 block, dim3 cluster, cudaLaunchAttribute& a,
                                 std::size_t bytes = 0) {
  a.id = cudaLaunchAttributeClusterDimension;
  a.val.clusterDim.x = cluster.x;
  a.val.clusterDim.y = cluster.y;
  a.val.clusterDim.z = cluster.z;
  return {grid, block, bytes, nullptr, &a, 1};
}

// Each block adds up values that all blocks of its cluster have in static and dynamic shared
// memory.
__global__ void sum_of_cluster(int* out, int scale) {
  __shared__ int fixed;
  extern __shared__ int dynamic_values[];
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) fixed = scale * static_cast<int>(blockIdx.x);
  dynamic_values[threadIdx.x] = 100 + static_cast<int>(cluster.block_rank());
  cluster.sync();
  int sum = 0;
  for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank)
    sum += *cluster.map_shared_rank(&fixed, rank) +
           cluster.map_shared_rank(dynamic_values, rank)[blockDim.x - 1];
  cluster.sync();  // no block may end while other blocks still read its memory
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

TEST(Cluster, ReadsTheSharedMemoryOfItsBlocks) {
  DeviceArray<int> out(8 * 16);
  cudaLaunchAttribute attribute;
  const auto config = configuration(8, 16, 4, attribute, 16 * sizeof(int));
  EXPECT_CUDA(cudaLaunchKernelEx(&config, sum_of_cluster, static_cast<int*>(out), 10));
  const std::vector<int> values = out.get();
  for (int i = 0; i < 8 * 16; ++i) {
    const int first = i / 16 / 4 * 4;
    ASSERT_EQ(10 * (4 * first + 6) + 4 * 100 + 6, values[i]) << i;
  }
}

// All threads of a cluster add to a variable of its first block. Arriving at the barrier and
// waiting there are separate calls.
__global__ void __cluster_dims__(2, 2, 1) count_in_first(int* out) {
  __shared__ int count;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) count = 0;
  auto token = cluster.barrier_arrive();
  const dim3 at = cluster.block_index();
  cluster.barrier_wait(std::move(token));
  atomicAdd(cluster.map_shared_rank(&count, 0), static_cast<int>(at.x + 2 * at.y + 1));
  cluster.sync();
  if (cluster.thread_rank() == 0) out[blockIdx.y / 2 * 3 + blockIdx.x / 2] = count;
}

TEST(Cluster, ShapeMayBelongToTheKernel) {
  DeviceArray<int> out(6);
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_CUDA(cudaMemset(out, 0, out.bytes()));
    count_in_first<<<dim3(6, 4), 8>>>(out);
    EXPECT_EQ(std::vector<int>(6, 8 * (1 + 2 + 3 + 4)), out.get());
  }
}

TEST(Cluster, BadShapesAreRefused) {
  DeviceArray<int> out(24 * 16);
  cudaLaunchAttribute attribute;
  auto config = configuration(9, 16, 4, attribute, 64);
  EXPECT_EQ(cudaErrorInvalidClusterSize,
            cudaLaunchKernelEx(&config, sum_of_cluster, static_cast<int*>(out), 10));
  config = configuration(16, 16, 16, attribute, 64);
  EXPECT_EQ(cudaErrorInvalidClusterSize,
            cudaLaunchKernelEx(&config, sum_of_cluster, static_cast<int*>(out), 10));
  EXPECT_EQ(cudaErrorInvalidClusterSize, cudaGetLastError());
  EXPECT_CUDA(
      cudaFuncSetAttribute(sum_of_cluster, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  EXPECT_CUDA(cudaLaunchKernelEx(&config, sum_of_cluster, static_cast<int*>(out), 10));
  int clusters = 0;
  EXPECT_CUDA(cudaOccupancyMaxActiveClusters(&clusters, (void*)sum_of_cluster, &config));
  EXPECT_GT(clusters, 0);
}

__global__ void both(int* out, int* total) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  cg::this_cluster().sync();
  atomicAdd(cg::this_cluster().map_shared_rank(&count, 0), 1);
  cg::this_cluster().sync();
  if (cg::this_cluster().thread_rank() == 0) atomicAdd(total, count);
  cg::this_grid().sync();
  out[cg::this_grid().thread_rank()] = *total;
}

TEST(Cluster, OfACooperativeGrid) {
  DeviceArray<int> out(6 * 8), total(1, 0);
  cudaLaunchAttribute attributes[2];
  auto config = configuration(6, 8, 2, attributes[0]);
  attributes[1].id = cudaLaunchAttributeCooperative;
  attributes[1].val.cooperative = 1;
  config.numAttrs = 2;
  EXPECT_CUDA(cudaLaunchKernelEx(&config, both, static_cast<int*>(out), static_cast<int*>(total)));
  EXPECT_EQ(std::vector<int>(6 * 8, 6 * 8), out.get());
}

__global__ void add_vectors(float4* sum4, float2* sum2) {
  atomicAdd(sum4, make_float4(1, 2, 3, 4));
  atomicAdd(sum2, make_float2(1, 2));
}

TEST(Atomics, VectorsAreAddedByComponent) {
  DeviceArray<float4> sum4(1, float4{0, 0, 0, 0});
  DeviceArray<float2> sum2(1, float2{0, 0});
  add_vectors<<<3, 40>>>(sum4, sum2);
  EXPECT_EQ(480.f, sum4.get()[0].w);
  EXPECT_EQ(240.f, sum2.get()[0].y);
}

__global__ void use_references(int* sum, float* largest) {
  cuda::atomic_ref<int> whole(*sum);
  whole.fetch_add(2, cuda::memory_order_relaxed);
  ++whole;
  cuda::atomic_ref<float, cuda::thread_scope_block>(*largest).fetch_max(threadIdx.x / 2.0f);
}

TEST(Atomics, References) {
  DeviceArray<int> sum(1, 0);
  DeviceArray<float> largest(1, 0.0f);
  use_references<<<3, 64>>>(sum, largest);
  EXPECT_EQ(3 * 64 * 3, sum.get()[0]);
  EXPECT_EQ(31.5f, largest.get()[0]);
}

__device__ cuda::atomic<int, cuda::thread_scope_device> global_sum{0};

__global__ void use_atomics(cuda::std::atomic<int>* largest, int* as_atomic, int* out) {
  __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> of_block;
  if (threadIdx.x == 0) of_block = 0u;
  __syncthreads();
  of_block.fetch_add(1, cuda::memory_order_relaxed);
  ++global_sum;
  largest->fetch_max(static_cast<int>(threadIdx.x), cuda::std::memory_order_relaxed);
  reinterpret_cast<cuda::atomic<int>*>(as_atomic)->store(5);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = static_cast<int>(of_block.load());
}

TEST(Atomics, AreObjectsOfTheDevice) {
  cuda::std::atomic<int>* largest = nullptr;
  EXPECT_CUDA(cudaMallocManaged(&largest, sizeof *largest));
  largest->store(0);
  DeviceArray<int> as_atomic(1, 0), out(3, 0);
  cuda::atomic<int, cuda::thread_scope_device> zero{0};
  EXPECT_CUDA(cudaMemcpyToSymbol(global_sum, &zero, sizeof zero));
  use_atomics<<<3, 64>>>(largest, as_atomic, out);
  int sum = 0;
  EXPECT_CUDA(cudaMemcpyFromSymbol(&sum, global_sum, sizeof sum));
  EXPECT_EQ(192, sum);
  EXPECT_EQ(63, largest->load());
  EXPECT_EQ(5, as_atomic.get()[0]);
  EXPECT_EQ(std::vector<int>(3, 64), out.get());
  EXPECT_CUDA(cudaFree(largest));
}

__global__ void without_cluster(int* blocks) { atomicAdd(blocks, 1); }
__global__ void __cluster_dims__(4, 1, 1) in_fours(int* blocks) { atomicAdd(blocks, 1); }
__global__ void __cluster_dims__(2, 1, 1) in_pairs(int* blocks) { atomicAdd(blocks, 1); }

TEST(Cluster, KernelsOfOneLineMayDifferInTheirClusters) {
  void (*const kernels[])(int*) = {without_cluster, in_fours, in_pairs, without_cluster, in_fours};
  for (int round = 0; round < 2; ++round)
    for (const auto kernel : kernels) {
      DeviceArray<int> blocks(1, 0);
      const unsigned count = kernel == without_cluster ? 6 : 8;
      kernel<<<count, 32>>>(blocks);
      EXPECT_CUDA(cudaGetLastError());
      EXPECT_EQ(static_cast<int>(32 * count), blocks.get()[0]);
    }
}

}  // namespace
