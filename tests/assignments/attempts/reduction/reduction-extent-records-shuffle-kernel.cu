// The smallest box around all bodies of each system.
//
// boxOfBlock: a block takes 256 bodies of one system. It copies their 7 * 256 floats, in the order
// of their addresses, to shared memory; then each thread takes x, y and z of its own body from
// there (a stride of 7 floats, which is odd, so no bank conflict). The threads of a warp compare
// their values by shuffles. combine: one block per system compares the boxes of the blocks.
#include <cmath>
#include <cstdio>

#include "assignment.h"

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kFields = sizeof(Record) / sizeof(float);

// Returns whether the call succeeded; prints the error if not.
static bool fine(cudaError_t error) {
  if (error != cudaSuccess) {
    std::printf("solve: %s\n", cudaGetErrorString(error));
  }
  return error == cudaSuccess;
}

// Results 0 to 2 are minima, 3 to 5 maxima.
__device__ float better(int k, float a, float b) { return k < 3 ? fminf(a, b) : fmaxf(a, b); }

__device__ float worst(int k) { return k < 3 ? INFINITY : -INFINITY; }

// Writes the best values of all threads of the block to out[0 ... kResults - 1].
__device__ void blockBox(float (&v)[kResults], float* out) {
  __shared__ float part[kResults][kWarps + 1];  // + 1: six threads read a column without conflict
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  for (int k = 0; k < kResults; ++k) {
    for (int d = 16; d > 0; d /= 2) {
      v[k] = better(k, v[k], __shfl_down_sync(0xffffffffu, v[k], d));
    }
    if (lane == 0) {
      part[k][warp] = v[k];
    }
  }
  __syncthreads();
  if (threadIdx.x < kResults) {
    const int k = threadIdx.x;
    float r = part[k][0];
    for (int w = 1; w < kWarps; ++w) {
      r = better(k, r, part[k][w]);
    }
    out[k] = r;
  }
}

__global__ void boxOfBlock(Bodies bodies, float* partial) {
  __shared__ float tile[kThreads * kFields];
  const size_t s = blockIdx.y;
  const int first = blockIdx.x * kThreads;
  const int here = min(kThreads, bodies.count - first);  // bodies of this block
  const float* from = &bodies.body[s * bodies.count + first].x;
  for (int f = threadIdx.x; f < here * kFields; f += kThreads) {
    tile[f] = from[f];
  }
  __syncthreads();
  float v[kResults];
  for (int k = 0; k < kResults; ++k) {
    v[k] = threadIdx.x < here ? tile[threadIdx.x * kFields + k % 3] : worst(k);
  }
  blockBox(v, partial + (s * gridDim.x + blockIdx.x) * kResults);
}

__global__ void combine(const float* partial, int blocks, float* result) {
  const size_t s = blockIdx.x;
  float v[kResults];
  for (int k = 0; k < kResults; ++k) {
    v[k] = worst(k);
  }
  for (int b = threadIdx.x; b < blocks; b += kThreads) {
    for (int k = 0; k < kResults; ++k) {
      v[k] = better(k, v[k], partial[(s * blocks + b) * kResults + k]);
    }
  }
  blockBox(v, result + s * kResults);
}

void solve(const Bodies& bodies, float* result) {
  const int blocks = (bodies.count - 1) / kThreads + 1;
  float* partial = nullptr;
  const size_t bytes = sizeof(float) * kResults * blocks * bodies.systems;
  if (!fine(cudaMalloc(&partial, bytes))) {
    return;
  }
  boxOfBlock<<<dim3(blocks, bodies.systems), kThreads>>>(bodies, partial);
  if (fine(cudaGetLastError())) {
    combine<<<bodies.systems, kThreads>>>(partial, blocks, result);
    fine(cudaGetLastError());
  }
  fine(cudaFree(partial));
}
