#include "assignment.h"

// Every cell has a chain of bodies: head[cell] is the body that was inserted last, next[body] the
// body inserted before it.
const int M = 8, MMM = M * M * M;

__device__ int slab(float u) {
  int k = floorf((u + 1.0f) / kCutOff);
  return k < 0 ? 0 : k > M - 1 ? M - 1 : k;
}

__global__ void build(Bodies b, int* head, int* next) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= b.systems * b.count) return;
  int cell = (slab(b.x[t]) * M + slab(b.y[t])) * M + slab(b.z[t]);
  next[t] = atomicExch(head + t / b.count * MMM + cell, t);
}

__global__ void pull(Bodies b, const int* head, const int* next, float* result) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= b.systems * b.count) return;
  const int* mine = head + t / b.count * MMM;
  float x = b.x[t], y = b.y[t], z = b.z[t];
  float fx = 0, fy = 0, fz = 0;
  int cx = slab(x), cy = slab(y), cz = slab(z);
  for (int n = 0; n < 27; ++n) {
    int a = cx + n / 9 - 1, c = cy + n / 3 % 3 - 1, d = cz + n % 3 - 1;
    if (min(a, min(c, d)) < 0 || max(a, max(c, d)) >= M) continue;
    for (int o = mine[(a * M + c) * M + d]; o >= 0; o = next[o]) {
      float ux = b.x[o] - x, uy = b.y[o] - y, uz = b.z[o] - z;
      float q = (ux * ux + uy * uy + uz * uz) / (kCutOff * kCutOff);
      if (q < 1) {  // the body exerts no force on itself
        float w = b.mass[o] * (1 - q);
        fx += w * ux;
        fy += w * uy;
        fz += w * uz;
      }
    }
  }
  result[3 * t] = fx;
  result[3 * t + 1] = fy;
  result[3 * t + 2] = fz;
}

void solve(const Bodies& bodies, float* result) {
  int n = bodies.systems * bodies.count, blocks = (n + 255) / 256;
  int *head, *next;
  size_t bytes = sizeof(int) * MMM * bodies.systems;
  cudaMalloc(&head, bytes);
  cudaMalloc(&next, sizeof(int) * n);
  cudaMemset(head, 255, bytes);  // -1
  build<<<blocks, 256>>>(bodies, head, next);
  pull<<<blocks, 256>>>(bodies, head, next, result);
  cudaFree(head);
  cudaFree(next);
}
