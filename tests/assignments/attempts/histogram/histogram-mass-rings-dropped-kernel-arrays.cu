#include "assignment.h"

// Two passes: partial maps of 512 bodies each, then one block per map adds them.
#define N 128
#define CHUNK 512

__global__ void partial(Bodies b, float* tmp, int parts) {
  __shared__ float m[kCells];
  int t = threadIdx.x;
  if (t < kCells) m[t] = 0.f;
  __syncthreads();
  int part = blockIdx.x % parts, s = blockIdx.x / parts;
  int lo = part * CHUNK;
  int hi = lo + CHUNK < b.count ? lo + CHUNK : b.count;
  for (int j = lo + t; j < hi; j += N) {
    size_t g = (size_t)s * b.count + j;
    float px = b.x[g], py = b.y[g], w = b.mass[g];
    float radius = sqrtf(px * px + py * py);
    int ring = floorf(radius * kCells / kExtent);
    if (ring < kCells) atomicAdd(m + ring, w);
  }
  __syncthreads();
  if (t < kCells) tmp[(size_t)blockIdx.x * kCells + t] = m[t];
}

__global__ void add(const float* tmp, int parts, float* result) {
  int s = blockIdx.x, t = threadIdx.x;
  float v = 0;
  for (int p = 0; p < parts; p++) v += tmp[((size_t)s * parts + p) * kCells + t];
  result[s * kCells + t] = v;
}

void solve(const Bodies& bodies, float* result) {
  int parts = (bodies.count - 1) / CHUNK + 1;
  float* tmp;
  cudaMalloc(&tmp, sizeof(float) * kCells * parts * bodies.systems);
  partial<<<parts * bodies.systems, N>>>(bodies, tmp, parts);
  add<<<bodies.systems, kCells>>>(tmp, parts, result);
  cudaFree(tmp);
}
