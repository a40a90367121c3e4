#include "assignment.h"

#define THREADS 128

static __device__ float square(float3 w) { return w.x * w.x + w.y * w.y + w.z * w.z; }

__global__ void kinetic_and_virial(int n, const float4* __restrict__ pos,
                                   const float4* __restrict__ vel, float* result) {
  __shared__ float kin[THREADS], vir[THREADS];
  const int tid = threadIdx.x;
  const float4* r = pos + (size_t)blockIdx.x * n;
  const float4* u = vel + (size_t)blockIdx.x * n;
  float a = 0, b = 0;
  int stride = THREADS * gridDim.y;
  for (int k = blockIdx.y * THREADS + tid; k < n; k += stride) {
    float4 q = r[k];
    float4 w = u[k];
    a += q.w * square(make_float3(w.x, w.y, w.z));
    b += q.w * (q.x * w.x + q.y * w.y + q.z * w.z);
  }
  kin[tid] = a;
  vir[tid] = b;
  __syncthreads();
  int s = THREADS;
  while (s > 1) {
    s >>= 1;
    if (tid < s) {
      kin[tid] += kin[tid + s];
      vir[tid] += vir[tid + s];
    }
    __syncthreads();
  }
  if (tid < 2) atomicAdd(result + 2 * blockIdx.x + tid, tid == 0 ? kin[0] : vir[0]);
}

void solve(const Bodies& bodies, float* result) {
  cudaMemset(result, 0, 2 * sizeof(float) * bodies.systems);
  int per_system = bodies.count / (4 * THREADS) + 1;
  dim3 blocks(bodies.systems, per_system);
  kinetic_and_virial<<<blocks, THREADS>>>(bodies.count, bodies.position, bodies.velocity, result);
}
