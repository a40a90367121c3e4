// Kernels with races and a divergent barrier, and their corrections. The MARK comments mark the
// lines that must be reported; inspect_test.py reads them.
#include <cooperative_groups.h>

#include "nbody/cuda.h"

namespace cg = cooperative_groups;

namespace {

constexpr int kThreads = 64;

template <bool kWithBarrier>
__device__ void neighbours(float* out) {
  __shared__ float line[kThreads];
  line[threadIdx.x] = 1.0f;  // MARK written
  if (kWithBarrier) __syncthreads();
  out[threadIdx.x] = line[(threadIdx.x + 1) % kThreads];  // MARK read
}
__global__ void missing_barrier(float* out) { neighbours<false>(out); }
__global__ void with_barrier(float* out) { neighbours<true>(out); }

// Each block has its own shared memory, but all blocks share global memory.
__global__ void two_blocks_write(float* out) { out[threadIdx.x] = 1.0f; }  // MARK both_blocks
__global__ void blocks_write_apart(float* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

// Since Volta, only __syncwarp() orders the lanes of a warp.
template <bool kWithSync>
__device__ void within_a_warp(float* out) {
  extern __shared__ float dynamic_line[];
  dynamic_line[threadIdx.x] = 1.0f;  // MARK lane_written
  if (kWithSync) __syncwarp();
  out[threadIdx.x] = dynamic_line[threadIdx.x ^ 1];  // MARK lane_read
}
__global__ void missing_syncwarp(float* out) { within_a_warp<false>(out); }
__global__ void with_syncwarp(float* out) { within_a_warp<true>(out); }

__global__ void atomic_update(int* out) { atomicAdd(out, 1); }
__global__ void plain_update(int* out) { *out += 1; }  // MARK plain
__global__ void atomic_float(float* out) { atomicAdd(out, 1.0f); }

// Writes neighbouring bytes of one word.
__global__ void bytes_apart(unsigned char* out) { out[threadIdx.x] = 1; }

__global__ void divergent_barrier(float* out) {
  out += blockIdx.x * blockDim.x;
  if (threadIdx.x < 24) {
    out[threadIdx.x] = 1.0f;
    __syncthreads();  // MARK first_barrier
  } else {
    out[threadIdx.x] = 2.0f;
    __syncthreads();  // MARK second_barrier
  }
}

template <bool kWithBarrier>
__global__ void next_block(float* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;  // MARK grid_written
  if (kWithBarrier)
    cg::this_grid().sync();
  else
    __syncthreads();
  const unsigned neighbour = (blockIdx.x + 1) % gridDim.x;
  const float next = out[neighbour * blockDim.x + threadIdx.x];  // MARK grid_read
  out[(gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = next;
}

// Reads the shared memory of the cluster's other block.
template <bool kWithBarrier>
__global__ void __cluster_dims__(2) other_block(float* out) {
  __shared__ float line[kThreads];
  cg::cluster_group cluster = cg::this_cluster();
  line[threadIdx.x] = 1.0f;  // MARK cluster_written
  if (kWithBarrier) cluster.sync();
  const float* theirs = cluster.map_shared_rank(line, cluster.block_rank() ^ 1);
  const float sum = theirs[threadIdx.x];  // MARK cluster_read
  cluster.sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] = line[threadIdx.x] + sum;
}

__global__ void return_early(float* out) {
  if (threadIdx.x >= 60) return;
  out[threadIdx.x] = 1.0f;
  __syncthreads();  // MARK early
}

}  // namespace

int main() {
  const nbody::DeviceArray<float> floats(4 * kThreads);
  const nbody::DeviceArray<int> ints(1);
  const nbody::DeviceArray<unsigned char> bytes(kThreads);
  CUDA_CHECK(cudaMemset(ints.get(), 0, ints.bytes()));
  missing_barrier<<<1, kThreads>>>(floats.get());
  with_barrier<<<1, kThreads>>>(floats.get());
  two_blocks_write<<<2, kThreads>>>(floats.get());
  blocks_write_apart<<<2, kThreads>>>(floats.get());
  missing_syncwarp<<<1, kThreads, kThreads * sizeof(float)>>>(floats.get());
  with_syncwarp<<<1, kThreads, kThreads * sizeof(float)>>>(floats.get());
  atomic_update<<<2, kThreads>>>(ints.get());
  plain_update<<<1, kThreads>>>(ints.get());
  atomic_float<<<2, kThreads>>>(floats.get());
  bytes_apart<<<1, kThreads>>>(bytes.get());
  divergent_barrier<<<3, kThreads>>>(floats.get());
  return_early<<<1, kThreads>>>(floats.get());
  float* out = floats.get();
  void* arguments[] = {&out};
  CUDA_CHECK(cudaLaunchCooperativeKernel(next_block<false>, 2, kThreads, arguments, 0, nullptr));
  CUDA_CHECK(cudaLaunchCooperativeKernel(next_block<true>, 2, kThreads, arguments, 0, nullptr));
  other_block<false><<<4, kThreads>>>(out);
  other_block<true><<<4, kThreads>>>(out);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 3;  // the findings must count although the program fails
}
