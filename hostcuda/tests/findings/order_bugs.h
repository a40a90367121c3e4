// Bugs in the order of threads, blocks or streams.
#ifndef HOSTCUDA_TESTS_FINDINGS_ORDER_BUGS_H
#define HOSTCUDA_TESTS_FINDINGS_ORDER_BUGS_H

#include <cuda/atomic>

#include "seeded.h"

namespace seeded {

__global__ void reduce(const int* in, int* out, bool wrong) {
  __shared__ int partial[kThreads];
  const unsigned t = threadIdx.x;
  partial[t] = in[t];
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    // BUG reduction_without_barrier
    if (t < half) partial[t] += partial[t + half];
    if (!wrong) __syncthreads();
  }
  if (t == 0) *out = partial[0];
}
SEEDED(reduction_without_barrier, "race") {
  const Buffer<int> in(kThreads), out(1);
  reduce<<<1, kThreads>>>(in.data, out.data, wrong);
}

__global__ void warp_sum(int* out, bool wrong) {
  __shared__ volatile int values[32];
  const unsigned t = threadIdx.x;
  values[t] = 1;
  __syncwarp();
  for (unsigned half = 16; half > 0; half /= 2) {
    const int other = t < half ? values[t + half] : 0;
    if (!wrong) __syncwarp();
    // BUG warp_synchronous
    if (t < half) values[t] = values[t] + other;
    if (!wrong) __syncwarp();
  }
  if (t == 0) *out = values[0];
}
SEEDED_KERNEL(warp_synchronous, "race", warp_sum, 1, 32, 1)

__global__ void sum_and_clear(int* data, int* out, bool wrong) {
  int sum = 0;
  for (int i = 0; i < kThreads; ++i) sum += data[i];
  if (!wrong) __syncwarp();
  // BUG overwritten_while_the_warp_reads
  if (threadIdx.x == 0) data[1] = 0;
  out[threadIdx.x] = sum;
}
SEEDED(overwritten_while_the_warp_reads, "race") {
  const Buffer<int> data(kThreads), out(kThreads);
  sum_and_clear<<<1, 32>>>(data.data, out.data, wrong);
}

__global__ void histogram(const int* in, int* out, bool wrong) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  if (wrong)
    // BUG lost_update_in_shared_memory
    bins[in[threadIdx.x]]++;
  else
    atomicAdd(&bins[in[threadIdx.x]], 1);
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}
SEEDED(lost_update_in_shared_memory, "lost update") {
  const Buffer<int> in(kThreads), out(8);
  histogram<<<1, kThreads>>>(in.data, out.data, wrong);
}

__global__ void count(int* counter, bool wrong) {
  if (wrong)
    // BUG lost_update_in_a_block
    *counter += 1;
  else
    atomicAdd(counter, 1);
}
SEEDED_KERNEL(lost_update_in_a_block, "lost update", count, 1, kThreads, 1)

__global__ void count_blocks(int* counter, bool wrong) {
  if (threadIdx.x != 0) return;
  if (wrong)
    // BUG lost_update_between_blocks
    counter[0]++;
  else
    atomicAdd(counter, 1);
}
SEEDED_KERNEL(lost_update_between_blocks, "lost update", count_blocks, 4, kThreads, 1)

// The atomics change no value, but they still count as reads and writes.
__global__ void largest(int* out, bool wrong) {
  if (threadIdx.x > 0)
    atomicMax(out, -1);
  else if (wrong)
    // BUG store_next_to_atomics
    *out = 1;
}
SEEDED_KERNEL(store_next_to_atomics, "race", largest, 1, kThreads, 1)

__global__ void any_not_positive(const int* in, int* out, bool wrong) {
  __shared__ bool found;
  if (threadIdx.x == 0) found = false;
  __syncthreads();
  if (in[threadIdx.x] <= 0 && (wrong || threadIdx.x == 0))
    // BUG same_value_stored_by_all
    found = true;
  __syncthreads();
  if (threadIdx.x == 0) *out = found;
}
SEEDED(same_value_stored_by_all, "same-value stores") {
  const Buffer<int> in(kThreads), out(1);
  any_not_positive<<<1, kThreads>>>(in.data, out.data, wrong);
  out.get();
}

__global__ void announce(int* value, int* out, bool wrong) {
  const cuda::atomic_ref<int> announced(*value);
  if (threadIdx.x > 0)
    out[threadIdx.x] = announced.load(cuda::memory_order_relaxed);
  else if (wrong)
    // BUG store_next_to_atomic_loads
    *value = 5;
  else
    announced.store(5, cuda::memory_order_relaxed);
}
SEEDED(store_next_to_atomic_loads, "race") {
  const Buffer<int> value(1), out(kThreads);
  announce<<<1, kThreads>>>(value.data, out.data, wrong);
  out.get();
}

__global__ void remember(int* found, bool wrong) {
  if (threadIdx.x % 20 == 7 && (!wrong || threadIdx.x < 40))
    // BUG all_write_one_place
    found[wrong ? 0 : threadIdx.x] = static_cast<int>(threadIdx.x);
}
SEEDED_KERNEL(all_write_one_place, "race", remember, 1, kThreads, kThreads)

__global__ void halo(const float* in, float* out, bool wrong) {
  const int i = index();
  out[i] = in[i];
  const int next = (i + 1) % static_cast<int>(gridDim.x * blockDim.x);
  // BUG reads_what_another_block_writes
  if (wrong) out[i] += out[next];
}
SEEDED(reads_what_another_block_writes, "race") {
  const Buffer<float> in(2 * kThreads), out(2 * kThreads);
  halo<<<2, kThreads>>>(in.data, out.data, wrong);
}

// The block that ends last adds up the results of all blocks.
__global__ void last_block_sums(float* partial, float* out, bool wrong) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = 1;
    if (!wrong) __threadfence();
    is_last = atomicAdd(reinterpret_cast<unsigned*>(partial + gridDim.x), 1) == gridDim.x - 1;
  }
  __syncthreads();
  // BUG last_block_without_fence
  if (is_last && threadIdx.x < gridDim.x) atomicAdd(out, partial[threadIdx.x]);
}
SEEDED(last_block_without_fence, "race") {
  const Buffer<float> partial(5), out(1);
  last_block_sums<<<4, kThreads>>>(partial.data, out.data, wrong);
}

// A fence of the block orders nothing between two blocks, but it suffices within a block.
__global__ void announce_to_block(int* data, int* flag, int* out, bool wrong) {
  const bool writes = blockIdx.x == 0 && threadIdx.x == 0;
  const bool reads = wrong ? blockIdx.x == 1 && threadIdx.x == 0 : threadIdx.x == kThreads - 1;
  if (writes) {
    *data = 5;
    __threadfence_block();
    atomicExch(flag, 1);
  }
  if (!reads) return;
  while (atomicAdd(flag, 0) == 0) continue;
  // BUG fence_of_block
  *out = *data;
}
SEEDED(fence_of_block, "race") {
  const Buffer<int> data(1, false), flag(1), out(1);
  announce_to_block<<<wrong ? 2 : 1, kThreads>>>(data.data, flag.data, out.data, wrong);
}

// The second of two threads that count resets the counter, as in step 15's tree.
__global__ void reset_by_the_last(int* counter, bool wrong) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> arrived(*counter);
  if (arrived.load(cuda::memory_order_acquire) == 0 &&
      arrived.fetch_add(1, cuda::memory_order_acq_rel) == 0 && !wrong)
    return;
  // BUG reset_by_the_first
  *counter = 0;
}
SEEDED(reset_by_the_first, "race") {
  for (const int blocks : {1, 2}) {
    const Buffer<int> counter(1);
    reset_by_the_last<<<blocks, 2 / blocks>>>(counter.data, wrong);
  }
}

// All threads write, then execute a fence. After a barrier, one thread signals the other blocks.
__global__ void all_threads_write(int* values, unsigned* arrived, int* out, int mode) {
  values[index()] = 1;
  if (mode == 1) __threadfence();
  __syncthreads();
  __shared__ bool last;
  if (threadIdx.x == 0) {
    if (mode == 2) __threadfence();
    last = atomicAdd(arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  // BUG block_without_fence
  if (last) atomicAdd(out, values[threadIdx.x]);
}
SEEDED(block_without_fence, "race") {
  for (const int mode : {1, 2}) {
    const Buffer<int> values(3 * kThreads, false), out(1);
    const Buffer<unsigned> arrived(1);
    all_threads_write<<<3, kThreads>>>(values.data, arrived.data, out.data, wrong ? 0 : mode);
  }
}

// A hand-made grid barrier, for cooperative grids, whose blocks hostcuda runs round-robin.
__device__ void grid_barrier(unsigned* arrived, unsigned wanted, bool fence) {
  __syncthreads();
  if (threadIdx.x == 0) {
    if (fence) __threadfence();
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < wanted) {
    }
    if (fence) __threadfence();
  }
  __syncthreads();
}
__global__ void neighbours(int* values, unsigned* arrived, bool wrong) {
  const unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned round = 1; round <= 3; ++round) {
    // BUG own_grid_barrier_without_fence
    values[round * n + i] = values[(round - 1) * n + (i + blockDim.x) % n] + 1;
    grid_barrier(arrived, round * gridDim.x, !wrong);
  }
}
SEEDED(own_grid_barrier_without_fence, "race") {
  const Buffer<int> values(4 * 3 * kThreads);
  const Buffer<unsigned> arrived(1);
  int* v = values.data;
  unsigned* a = arrived.data;
  void* arguments[] = {&v, &a, &wrong};
  cudaLaunchCooperativeKernel(neighbours, dim3(3), dim3(kThreads), arguments);
}

__global__ void locked(int* lock, int* value, bool wrong) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  // BUG lock_without_fence
  *value += 1;
  if (!wrong) __threadfence();
  atomicExch(lock, 0);
}
SEEDED(lock_without_fence, "lost update") {
  const Buffer<int> memory(2);
  locked<<<4, kThreads>>>(memory.data, memory.data + 1, wrong);
}

// Each block polls the flag of the block before it, and then continues.
__global__ void chained(volatile int* flags, int* values, bool wrong) {
  if (threadIdx.x != 0) return;
  const unsigned b = blockIdx.x;
  if (b > 0)
    while (flags[b - 1] == 0) {
    }
  // BUG flag_without_fence
  values[b] = b > 0 ? values[b - 1] + 1 : 1;
  if (!wrong) __threadfence();
  flags[b] = 1;
}
SEEDED(flag_without_fence, "race") {
  const Buffer<int> flags(4), values(4, false);
  volatile int* f = flags.data;
  int* v = values.data;
  void* arguments[] = {&f, &v, &wrong};
  cudaLaunchCooperativeKernel(chained, dim3(4), dim3(kThreads), arguments);
}

__global__ void divergent(int* out, bool wrong) {
  if (!wrong || threadIdx.x < 40) {
    out[threadIdx.x] = 1;
    // BUG two_barriers
    __syncthreads();
  } else {
    out[threadIdx.x] = 2;
    __syncthreads();
  }
}
SEEDED_KERNEL(two_barriers, "barrier divergence", divergent, 1, kThreads, kThreads)

__global__ void in_a_branch(int* out, bool wrong) {
  if (!wrong || threadIdx.x < 10) {
    out[threadIdx.x] = 1;
    // BUG barrier_in_a_branch
    __syncthreads();
  }
}
SEEDED_KERNEL(barrier_in_a_branch, "return before a barrier", in_a_branch, 1, kThreads, kThreads)

__global__ void shuffles(int* out, bool wrong) {
  int v = 1;
  // BUG shuffle_from_a_lane_that_is_not_there
  if (!wrong || threadIdx.x < 16) v += __shfl_down_sync(wrong ? 0xffffu : 0xffffffffu, v, 8);
  out[threadIdx.x] = v;
}
SEEDED_KERNEL(shuffle_from_a_lane_that_is_not_there, "absent lane", shuffles, 1, 32, 32)

__global__ void wrong_mask(int* out, bool wrong) {
  const unsigned mask = wrong ? 1u : 0xffffffffu;
  // BUG mask_without_the_caller
  out[threadIdx.x] = static_cast<int>(__ballot_sync(mask, 1));
}
SEEDED_KERNEL(mask_without_the_caller, "foreign mask", wrong_mask, 1, 32, 32)

__global__ void waits(volatile int* flag, bool wrong) {
  if (wrong)
    // BUG waits_for_ever
    while (*flag == 0) {
    }
}
SEEDED_KERNEL(waits_for_ever, "hang", waits, 1, 1, 1)

__global__ void make(int* a) { a[threadIdx.x] = 1; }
__global__ void use(const int* a, int* b) {
  // BUG streams_without_event
  b[threadIdx.x] = a[threadIdx.x];
}
SEEDED(streams_without_event, "unordered operations") {
  const Buffer<int> a(kThreads), b(kThreads);
  cudaDeviceSynchronize();
  const Stream first, second;
  cudaEvent_t made;
  cudaEventCreate(&made);
  make<<<1, kThreads, 0, first>>>(a.data);
  cudaEventRecord(made, first);
  if (!wrong) cudaStreamWaitEvent(second, made, 0);
  use<<<1, kThreads, 0, second>>>(a.data, b.data);
  cudaDeviceSynchronize();
  cudaEventDestroy(made);
}

SEEDED(allocated_in_another_stream, "unordered operations") {
  const Stream first, second;
  int* p;
  // BUG allocated_in_another_stream
  cudaMallocAsync(&p, kThreads * sizeof(int), first);
  if (!wrong) cudaStreamSynchronize(first);
  make<<<1, kThreads, 0, second>>>(p);
  cudaStreamSynchronize(second);
  cudaFreeAsync(p, first);
  cudaDeviceSynchronize();
}

SEEDED(freed_in_another_stream, "unordered operations") {
  const Stream first, second;
  int* p;
  cudaMallocAsync(&p, kThreads * sizeof(int), first);
  make<<<1, kThreads, 0, first>>>(p);
  if (!wrong) cudaStreamSynchronize(first);
  // BUG freed_in_another_stream
  cudaFreeAsync(p, second);
  cudaDeviceSynchronize();
}

SEEDED(copy_in_another_stream, "unordered operations") {
  int* host;
  cudaMallocHost(&host, kThreads * sizeof(int));
  const Buffer<int> a(kThreads);
  cudaDeviceSynchronize();
  const Stream first(cudaStreamNonBlocking), second(cudaStreamNonBlocking);
  make<<<1, kThreads, 0, first>>>(a.data);
  if (!wrong) cudaStreamSynchronize(first);
  // BUG copy_in_another_stream
  cudaMemcpyAsync(host, a.data, kThreads * sizeof(int), cudaMemcpyDeviceToHost, second);
  cudaDeviceSynchronize();
  cudaFreeHost(host);
}

SEEDED(pinned_buffer_reused, "not synchronised") {
  int* host;
  cudaMallocHost(&host, kThreads * sizeof(int));
  for (int i = 0; i < kThreads; ++i) host[i] = 1;
  const Buffer<int> device(kThreads);
  const Stream stream;
  cudaMemcpyAsync(device.data, host, kThreads * sizeof(int), cudaMemcpyHostToDevice, stream);
  if (!wrong) cudaStreamSynchronize(stream);
  // BUG pinned_buffer_reused
  host[0] = 2;
  cudaStreamSynchronize(stream);
  cudaFreeHost(host);
}

}  // namespace seeded

#endif
