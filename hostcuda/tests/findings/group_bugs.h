// Bugs in the way the threads of a block, a warp or a cluster work together.
#ifndef HOSTCUDA_TESTS_FINDINGS_GROUP_BUGS_H
#define HOSTCUDA_TESTS_FINDINGS_GROUP_BUGS_H

#include <cooperative_groups.h>
#include <cuda_fp16.h>

#include <cuda/atomic>
#include <cuda/barrier>

#include "seeded.h"

namespace seeded {

__global__ void pairs_write_one_slot(int* out, bool wrong) {
  __shared__ int slots[kThreads];
  const int t = static_cast<int>(threadIdx.x), slot = wrong ? t / 2 : t;
  // BUG two_write_one_slot
  slots[slot] = t;
  __syncthreads();
  out[t] = slots[slot];
}
SEEDED_KERNEL(two_write_one_slot, "race", pairs_write_one_slot, 1, kThreads, kThreads)

__global__ void half_a_warp_waits(int* out, bool wrong) {
  // BUG syncwarp_in_a_branch
  if (!wrong || threadIdx.x < 16) __syncwarp();
  __syncthreads();
  out[threadIdx.x] = 1;
}
SEEDED_KERNEL(syncwarp_in_a_branch, "deadlock", half_a_warp_waits, 1, 32, 32)

__global__ void __cluster_dims__(2) reads_the_neighbours(int* out, int by) {
  __shared__ int tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  const auto cluster = cooperative_groups::this_cluster();
  tile[t] = t;
  cluster.sync();
  const int* const other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
  // BUG past_the_other_blocks_tile
  out[index()] = other[t + by];
  cluster.sync();
}
SEEDED(past_the_other_blocks_tile, "out of bounds") {
  const Buffer<int> out(2 * kThreads);
  reads_the_neighbours<<<2, kThreads>>>(out.data, wrong ? 1 : 0);
}

// A plain load is right if a compare-and-swap then checks the loaded value. Otherwise the load
// races with atomicAdd.
__global__ void adds_doubles(double* sum, bool wrong) {
  auto* const bits = reinterpret_cast<unsigned long long*>(sum);
  if (wrong) atomicAdd(bits, 1ull);
  // BUG sum_read_while_others_add
  unsigned long long seen = *bits, assumed;
  if (wrong) return static_cast<void>(atomicExch(bits + 1, seen));
  do {
    assumed = seen;
    seen = atomicCAS(bits, assumed, __double_as_longlong(1 + __longlong_as_double(assumed)));
  } while (seen != assumed);
}
SEEDED(sum_read_while_others_add, "race") {
  const Buffer<double> sum(2);
  adds_doubles<<<2, kThreads>>>(sum.data, wrong);
}

__device__ unsigned blocks_done;
__global__ void last_block_adds(int* partial, bool wrong) {
  if (threadIdx.x != 0) return;
  partial[blockIdx.x + 1] = 1;
  if (!wrong) __threadfence();
  if (atomicInc(&blocks_done, gridDim.x - 1) != gridDim.x - 1) return;
  for (unsigned b = 1; b <= gridDim.x; ++b)
    // BUG counted_in_a_variable
    partial[0] += partial[b];
}
SEEDED_KERNEL(counted_in_a_variable, "race", last_block_adds, 4, kThreads, 5)

__device__ int mutex;
__global__ void adds_while_locked(int* value, bool wrong) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&mutex, 0, 1) != 0) {
  }
  __threadfence();
  // BUG locked_by_a_variable
  *value += 1;
  if (!wrong) __threadfence();
  atomicExch(&mutex, 0);
}
SEEDED_KERNEL(locked_by_a_variable, "lost update", adds_while_locked, 4, kThreads, 1)

__global__ void sets_neighbour(int* out, int by) {
  // BUG out_of_bounds_in_a_graph
  out[index() + by] = 1;
}
SEEDED(out_of_bounds_in_a_graph, "out of bounds") {
  const Buffer<int> out(kThreads);
  cudaGraph_t graph;
  cudaGraphExec_t replayed;
  const Stream stream;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  sets_neighbour<<<1, kThreads, 0, stream>>>(out.data, 0);
  sets_neighbour<<<1, kThreads, 0, stream>>>(out.data, wrong ? 1 : 0);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&replayed, graph, 0);
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(replayed, stream);
  cudaStreamSynchronize(stream);
  cudaGraphExecDestroy(replayed);
  cudaGraphDestroy(graph);
}

// An atomic whose scope is the block orders nothing between two blocks.
__global__ void announce_by_atomic(int* data, int* flag, int* out, bool wrong) {
  const cuda::atomic_ref<int, cuda::thread_scope_block> announced(*flag);
  const bool reads = wrong ? blockIdx.x == 1 && threadIdx.x == 0 : threadIdx.x == kThreads - 1;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *data = 5;
    if (wrong)
      announced.store(1, cuda::memory_order_release);
    else
      announced.fetch_add(1);
  }
  if (!reads) return;
  while (announced.load(cuda::memory_order_acquire) == 0) continue;
  // BUG atomic_of_block
  *out = *data;
}
SEEDED(atomic_of_block, "race") {
  const Buffer<int> data(1, false), flag(1), out(1);
  announce_by_atomic<<<wrong ? 2 : 1, kThreads>>>(data.data, flag.data, out.data, wrong);
}

// Atomics whose scope is the block may lose updates by other blocks, even by wider atomics.
__global__ void count_in_blocks(int* out, bool wrong) {
  // BUG counter_of_block
  atomicAdd_block(&out[wrong ? 0 : blockIdx.x], 1);
}
SEEDED_KERNEL(counter_of_block, "race", count_in_blocks, 2, kThreads, 2)

// The scope holds for each component.
template <class Pair, class Number>
__global__ void add_pairs_in_block(Pair* out, Number one, bool wrong) {
  Pair* const mine = &out[wrong ? 0 : blockIdx.x];
  // BUG pair_of_block
  if (blockIdx.x == 0) atomicAdd_block(mine, Pair{one, one});
  // BUG pair_of_halves
  if (blockIdx.x == 1) atomicAdd(&mine->y, one);
}
SEEDED(pair_of_block, "race") {
  const Buffer<float2> out(2);
  add_pairs_in_block<<<2, kThreads>>>(out.data, 1.0f, wrong);
}
SEEDED(pair_of_halves, "race") {
  const Buffer<__half2> out(2);
  add_pairs_in_block<<<2, kThreads>>>(out.data, __float2half(1), wrong);
}

__global__ void count_with_references(int* out, bool wrong) {
  int& counter = out[wrong ? 0 : blockIdx.x];
  if (blockIdx.x == 0) atomicMax(&counter, 1);
  const cuda::atomic_ref<int, cuda::thread_scope_block> mine(counter);
  // BUG reference_of_block
  if (blockIdx.x == 1) mine.fetch_add(1, cuda::memory_order_relaxed);
}
SEEDED_KERNEL(reference_of_block, "race", count_with_references, 2, kThreads, 2)

__global__ void uses_a_new_barrier(int* out, bool wrong) {
  __shared__ cuda::barrier<cuda::thread_scope_block> everyone;
  if (threadIdx.x == 0) init(&everyone, blockDim.x);
  if (!wrong) __syncthreads();
  out[threadIdx.x] = 1;
  // BUG barrier_used_before_its_init_is_known
  everyone.arrive_and_wait();
}
SEEDED_KERNEL(barrier_used_before_its_init_is_known, "race", uses_a_new_barrier, 1, kThreads,
              kThreads)

// Lanes that have returned need not take part, even if their tile goes on.
__global__ void a_part_of_the_tile_waits(int* out, bool wrong) {
  const auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
  const int value = out[threadIdx.x];
  if (!wrong && threadIdx.x >= 44) return;
  if (!wrong || tile.thread_rank() < 4)
    // BUG tile_sync_in_a_branch
    tile.sync();
  out[threadIdx.x] = value + 1;
  for (int i = 0; !wrong && i < value + 2; ++i) {
    out[threadIdx.x] += i;
    tile.sync();
  }
}
SEEDED_KERNEL(tile_sync_in_a_branch, "absent lane", a_part_of_the_tile_waits, 1, kThreads, kThreads)

}  // namespace seeded

#endif
