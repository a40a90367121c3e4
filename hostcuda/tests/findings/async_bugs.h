// Bugs with work that runs in the background (asynchronous copies, nodes of a graph, queries), with
// constants of which host code sets only a part, and with functions that are defined in a library's
// headers.
#ifndef HOSTCUDA_TESTS_FINDINGS_ASYNC_BUGS_H
#define HOSTCUDA_TESTS_FINDINGS_ASYNC_BUGS_H

#include <cuda_pipeline.h>

#include <cstdlib>
#include <cub/cub.cuh>
#include <vector>

#include "seeded.h"

namespace seeded {

constexpr int kStages = 4;

__global__ void last_stage(const int* in, int* out, bool wrong) {
  __shared__ int tiles[2][kThreads];
  const unsigned t = threadIdx.x;
  __pipeline_memcpy_async(&tiles[0][t], &in[t], sizeof(int));
  __pipeline_commit();
  for (int stage = 0; stage < kStages; ++stage) {
    const bool is_last = stage + 1 == kStages;
    if (!is_last) {
      const int next = stage + 1;
      __pipeline_memcpy_async(&tiles[next % 2][t], &in[next * kThreads + static_cast<int>(t)],
                              sizeof(int));
      __pipeline_commit();
    }
    __pipeline_wait_prior(is_last && !wrong ? 0 : 1);
    __syncthreads();
    // BUG last_copy_not_awaited
    out[stage * kThreads + static_cast<int>(t)] = tiles[stage % 2][kThreads - 1 - t];
    __syncthreads();
  }
}
SEEDED(last_copy_not_awaited, "unfinished copy") {
  const Buffer<int> in(kStages * kThreads), out(kStages * kThreads);
  last_stage<<<1, kThreads>>>(in.data, out.data, wrong);
  out.get();
}

__global__ void two_tiles(const int* in, int* out, bool wrong) {
  __shared__ int tiles[2][kThreads];
  const unsigned t = threadIdx.x;
  __pipeline_memcpy_async(&tiles[0][t], &in[t], sizeof(int));
  __pipeline_commit();
  for (int stage = 0; stage < kStages; ++stage) {
    const int next = (stage + 1) % kStages;
    // BUG copy_begins_while_others_read
    __pipeline_memcpy_async(&tiles[(stage + 1) % 2][t], &in[next * kThreads], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[stage * kThreads + static_cast<int>(t)] = tiles[stage % 2][kThreads - 1 - t];
    if (!wrong) __syncthreads();
  }
}
SEEDED(copy_begins_while_others_read, "race") {
  const Buffer<int> in(kStages * kThreads), out(kStages * kThreads);
  two_tiles<<<1, kThreads>>>(in.data, out.data, wrong);
  out.get();
}

__global__ void fill_node(int* data) { data[threadIdx.x] = 77; }
__global__ void double_node(const int* data, int* out) {
  // BUG node_without_dependency
  out[threadIdx.x] = 2 * data[threadIdx.x];
}
cudaGraphNode_t add_node(cudaGraph_t graph, void* kernel, void** arguments,
                         const std::vector<cudaGraphNode_t>& dependencies) {
  cudaKernelNodeParams node = {};
  node.func = kernel;
  node.gridDim = dim3(1);
  node.blockDim = dim3(kThreads);
  node.kernelParams = arguments;
  cudaGraphNode_t made = nullptr;
  cudaGraphAddKernelNode(&made, graph, dependencies.data(), dependencies.size(), &node);
  return made;
}
SEEDED(node_without_dependency, "unordered operations") {
  const Buffer<int> data(kThreads), out(kThreads);
  const int* from = data.data;
  int *to = out.data, *made = data.data;
  void *of_fill[] = {&made}, *of_double[] = {&from, &to};
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  const cudaGraphNode_t fill = add_node(graph, reinterpret_cast<void*>(fill_node), of_fill, {});
  std::vector<cudaGraphNode_t> dependencies;
  if (!wrong) dependencies.push_back(fill);
  add_node(graph, reinterpret_cast<void*>(double_node), of_double, dependencies);
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  for (int i = 0; i < 2; ++i) cudaGraphLaunch(executable, nullptr);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  out.get();
}

SEEDED(graph_frees_too_early, "unordered operations") {
  const Buffer<int> out(kThreads);
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location = {cudaMemLocationTypeDevice, 0};
  memory.bytesize = kThreads * sizeof(int);
  cudaGraphNode_t allocated, freed;
  cudaGraphAddMemAllocNode(&allocated, graph, nullptr, 0, &memory);
  int* to = out.data;
  void *of_fill[] = {&memory.dptr}, *of_double[] = {&memory.dptr, &to};
  const cudaGraphNode_t fill =
      add_node(graph, reinterpret_cast<void*>(fill_node), of_fill, {allocated});
  const cudaGraphNode_t twice =
      add_node(graph, reinterpret_cast<void*>(double_node), of_double, {fill});
  cudaGraphAddMemFreeNode(&freed, graph, wrong ? &fill : &twice, 1, memory.dptr);
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  // BUG graph_frees_too_early
  cudaGraphLaunch(executable, nullptr);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  out.get();
}

SEEDED(query_without_a_look, "not synchronised") {
  int* data;
  cudaMallocManaged(&data, kThreads * sizeof(int));
  cudaEvent_t end;
  cudaEventCreate(&end);
  fill_node<<<1, kThreads>>>(data);
  cudaEventRecord(end);
  if (wrong)
    (void)cudaEventQuery(end);
  else
    while (cudaEventQuery(end) == cudaErrorNotReady) {
    }
  // BUG query_without_a_look
  if (data[3] != 77) std::abort();
  cudaDeviceSynchronize();
  cudaEventDestroy(end);
  cudaFree(data);
}

__constant__ float half_set_weights[9];
__global__ void use_weights(float* out) {
  // BUG constant_set_in_elements
  out[threadIdx.x] = half_set_weights[threadIdx.x];
}
SEEDED(constant_set_in_elements, "constant never set") {
  const std::vector<float> weights(9, 1);
  const Buffer<float> out(9, false);
  cudaMemcpyToSymbol(half_set_weights, weights.data(), wrong ? 9 : 9 * sizeof(float));
  use_weights<<<1, 9>>>(out.data);
  out.get();
}

__global__ void sum_all(const int* in, int* sum, bool wrong) {
  // BUG cleared_while_other_blocks_add
  if (wrong && index() == 0) *sum = 0;
  __syncthreads();
  atomicAdd(sum, in[index()]);
}
SEEDED(cleared_while_other_blocks_add, "race") {
  const Buffer<int> in(4 * kThreads), sum(1);
  sum_all<<<4, kThreads>>>(in.data, sum.data, wrong);
  sum.get();
}

__global__ void two_sums(const int* in, int* out, bool wrong) {
  using Reduce = cub::BlockReduce<int, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  const int value = in[threadIdx.x];
  const int sum = Reduce(storage).Sum(value);
  if (!wrong) __syncthreads();
  // BUG cub_storage_used_twice
  const int squares = Reduce(storage).Sum(value * value);
  if (threadIdx.x == 0) {
    out[0] = sum;
    out[1] = squares;
  }
}
SEEDED(cub_storage_used_twice, "race") {
  const Buffer<int> in(kThreads), out(2);
  two_sums<<<1, kThreads>>>(in.data, out.data, wrong);
  out.get();
}

// BLOCK_HISTO_SORT needs no barrier between the two functions.
__global__ void counts_at_once(const int* in, unsigned* bins, bool wrong) {
  using Sort = cub::BlockHistogram<int, kThreads, 1, kThreads, cub::BLOCK_HISTO_SORT>;
  using Atomic = cub::BlockHistogram<int, kThreads, 1, kThreads, cub::BLOCK_HISTO_ATOMIC>;
  int items[] = {in[threadIdx.x]};
  if (!wrong) {
    Sort().InitHistogram(bins);
    Sort().Composite(items, bins);
  } else {
    // BUG counters_not_yet_zero
    Atomic().InitHistogram(bins);
    Atomic().Composite(items, bins);
  }
}
SEEDED(counters_not_yet_zero, "race") {
  const Buffer<int> in(kThreads);
  const Buffer<unsigned> bins(kThreads);
  counts_at_once<<<1, kThreads>>>(in.data, bins.data, wrong);
  bins.get();
}

}  // namespace seeded

#endif
