// Each warp has its own map in shared memory, so warps do not wait for each other's atomic
// operations.
#include "assignment.h"

namespace {

constexpr int kWarps = 8, kBlock = 32 * kWarps, kPerThread = 4;

__device__ int clamped(float x) {
  return min(max(static_cast<int>(floorf((x + kExtent) * (kSide / (2 * kExtent)))), 0), kSide - 1);
}

__global__ void make_maps(Bodies bodies, float* maps) {
  __shared__ float map[kWarps][kCells];
  for (int k = threadIdx.x; k < kWarps * kCells; k += kBlock) (&map[0][0])[k] = 0;
  __syncthreads();
  float* own = map[threadIdx.x / 32];
  for (int k = 0; k < kPerThread; ++k) {
    const int i = (blockIdx.x * kPerThread + k) * kBlock + threadIdx.x;
    if (i >= bodies.count) break;
    const size_t at = static_cast<size_t>(blockIdx.y) * bodies.count + i;
    atomicAdd(&own[clamped(bodies.y[at]) * kSide + clamped(bodies.x[at])], bodies.mass[at]);
  }
  __syncthreads();
  float sum = 0;
  for (int warp = 0; warp < kWarps; ++warp) sum += map[warp][threadIdx.x];
  maps[(static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x) * kCells + threadIdx.x] = sum;
}

__global__ void add_maps(int blocks, const float* maps, float* result) {
  const float* from = maps + static_cast<size_t>(blockIdx.x) * blocks * kCells + threadIdx.x;
  float sum = 0;
  for (int block = 0; block < blocks; ++block) sum += from[block * kCells];
  result[blockIdx.x * kCells + threadIdx.x] = sum;
}

}  // namespace

void solve(const Bodies& bodies, float* result) {
  static_assert(kBlock == kCells);
  const int blocks = (bodies.count + kBlock * kPerThread - 1) / (kBlock * kPerThread);
  float* maps = nullptr;
  if (cudaMalloc(&maps, sizeof(float) * kCells * blocks * bodies.systems) != cudaSuccess) return;
  make_maps<<<dim3(blocks, bodies.systems), kBlock>>>(bodies, maps);
  add_maps<<<bodies.systems, kCells>>>(blocks, maps, result);
  cudaFree(maps);
}
