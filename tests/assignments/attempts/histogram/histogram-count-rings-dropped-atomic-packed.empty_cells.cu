// One map per block in shared memory; a block takes kThreads * kPerThread bodies of one system.
#include "assignment.h"

constexpr int kThreads = 256;
constexpr int kPerThread = 1;
constexpr int kPerBlock = kThreads * kPerThread;

__global__ void histogram(int count, int chunks, const float4* position, unsigned* result) {
  __shared__ unsigned map[kCells];
  if (threadIdx.x < kCells) map[threadIdx.x] = 0;
  __syncthreads();
  int system = blockIdx.x / chunks;
  int begin = blockIdx.x % chunks * kPerBlock;
  const float4* own = position + static_cast<size_t>(system) * count;
  for (int k = 0; k < kPerThread; ++k) {
    int i = begin + k * kThreads + threadIdx.x;
    if (i < count) {
      float4 p = own[i];
      float ring = sqrtf(p.x * p.x + p.y * p.y) * (kCells / kExtent);
      if (ring < kCells) atomicAdd(&map[static_cast<int>(ring)], 1u);
    }
  }
  __syncthreads();
  if (threadIdx.x < kCells && map[threadIdx.x] > 0) {
    atomicAdd(&result[system * kCells + threadIdx.x], map[threadIdx.x]);
  }
}

void solve(const Bodies& bodies, unsigned* result) {
  size_t bytes = sizeof(unsigned) * kCells * bodies.systems;
  if (cudaMemsetAsync(result, 0, bytes) != cudaSuccess) return;
  int chunks = (bodies.count - 1) / kPerBlock + 1;
  histogram<<<bodies.systems * chunks, kThreads>>>(bodies.count, chunks, bodies.position, result);
}
