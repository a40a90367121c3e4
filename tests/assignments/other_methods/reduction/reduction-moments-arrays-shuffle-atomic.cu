// Blocks of 64 threads: the first round of the sum is a tree's, in shared memory, and only the last
// 32 values are added up by shuffles.
#include "assignment.h"

constexpr int kBlock = 64;

__global__ void moments(Bodies b, float* out) {
  __shared__ float part[kResults][kBlock];
  const int t = threadIdx.x, i = blockIdx.x * kBlock + t;
  const size_t at = static_cast<size_t>(blockIdx.y) * b.count + i;
  const float m = i < b.count ? b.mass[at] : 0;
  part[0][t] = m;
  part[1][t] = i < b.count ? m * b.x[at] : 0;
  part[2][t] = i < b.count ? m * b.y[at] : 0;
  part[3][t] = i < b.count ? m * b.z[at] : 0;
  __syncthreads();
  if (t >= 32) return;
  for (int k = 0; k < kResults; ++k) {
    float sum = part[k][t] + part[k][t + 32];
    for (int far = 16; far > 0; far /= 2) sum += __shfl_down_sync(0xffffffffu, sum, far);
    if (t == 0) atomicAdd(&out[blockIdx.y * kResults + k], sum);
  }
}

void solve(const Bodies& bodies, float* result) {
  cudaMemset(result, 0, sizeof(float) * kResults * bodies.systems);
  moments<<<dim3((bodies.count + kBlock - 1) / kBlock, bodies.systems), kBlock>>>(bodies, result);
}
