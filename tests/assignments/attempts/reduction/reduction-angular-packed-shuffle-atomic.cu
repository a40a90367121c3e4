// Angular momentum of each system. Each block takes a slice of one system, up to 8 x 128 bodies.
#include <cstdio>

#include "assignment.h"

namespace {

const int kThreads = 128;
const int kBodiesPerBlock = 1024;

struct Vec {
  float x, y, z;
};

__device__ Vec warpSum(Vec v) {
#pragma unroll
  for (int lane = 1; lane < 32; lane <<= 1) {
    v.x += __shfl_xor_sync(0xffffffff, v.x, lane);
    v.y += __shfl_xor_sync(0xffffffff, v.y, lane);
    v.z += __shfl_xor_sync(0xffffffff, v.z, lane);
  }
  return v;
}

__global__ void angularMomentum(Bodies b, float* out) {
  const int slices = (b.count + kBodiesPerBlock - 1) / kBodiesPerBlock;
  const int sys = blockIdx.x / slices;
  const int slice = blockIdx.x % slices;
  const int base = sys * b.count;
  const int end = min(b.count, (slice + 1) * kBodiesPerBlock);

  Vec l{0, 0, 0};
  for (int i = slice * kBodiesPerBlock + threadIdx.x; i < end; i += kThreads) {
    const float4 p = b.position[base + i];
    const float4 v = b.velocity[base + i];
    l.x += p.w * (p.y * v.z - p.z * v.y);
    l.y += p.w * (p.z * v.x - p.x * v.z);
    l.z += p.w * (p.x * v.y - p.y * v.x);
  }
  l = warpSum(l);

  __shared__ Vec warps[kThreads / 32];
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = l;
  __syncthreads();
  if (threadIdx.x < 3) {
    float total = 0;
    for (int w = 0; w < kThreads / 32; ++w) {
      total += threadIdx.x == 0 ? warps[w].x : threadIdx.x == 1 ? warps[w].y : warps[w].z;
    }
    atomicAdd(&out[sys * kResults + threadIdx.x], total);
  }
}

}  // namespace

void solve(const Bodies& bodies, float* result) {
  if (cudaMemset(result, 0, sizeof(float) * kResults * bodies.systems) != cudaSuccess) return;
  const int slices = (bodies.count + kBodiesPerBlock - 1) / kBodiesPerBlock;
  angularMomentum<<<slices * bodies.systems, kThreads>>>(bodies, result);
  if (cudaGetLastError() != cudaSuccess) printf("launch failed\n");
}
