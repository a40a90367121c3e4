// try 1: one block per system, each thread reads its own records, tree in shared memory
#include <cfloat>

#include "assignment.h"

constexpr int kThreads = 256;

__global__ void box(Bodies bodies, float* result) {
  __shared__ float part[kResults][kThreads + 1];
  const int t = threadIdx.x;
  float lo[3] = {FLT_MAX, FLT_MAX, FLT_MAX};
  float hi[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};
  const Record* body = bodies.body + blockIdx.x * bodies.count;
  __shared__ float tile[kThreads * 7];
  for (int first = 0; first < bodies.count; first += kThreads) {
    const int here = min(kThreads, bodies.count - first);
    for (int f = t; f < here * 7; f += kThreads) tile[f] = (&body[first].x)[f];
    __syncthreads();
    struct {
      float x, y, z;
    } r;
    const int m = t < here ? t : 0;
    r.x = tile[7 * m];
    r.y = tile[7 * m + 1];
    r.z = tile[7 * m + 2];
    __syncthreads();
    lo[0] = fminf(lo[0], r.x);
    lo[1] = fminf(lo[1], r.y);
    lo[2] = fminf(lo[2], r.z);
    hi[0] = fmaxf(hi[0], r.x);
    hi[1] = fmaxf(hi[1], r.y);
    hi[2] = fmaxf(hi[2], r.z);
  }
  for (int k = 0; k < 3; ++k) {
    part[k][t] = lo[k];
    part[3 + k][t] = hi[k];
  }
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) {
      for (int k = 0; k < 3; ++k) {
        part[k][t] = fminf(part[k][t], part[k][t + half]);
        part[3 + k][t] = fmaxf(part[3 + k][t], part[3 + k][t + half]);
      }
    }
    __syncthreads();
  }
  if (t < kResults) {
    result[blockIdx.x * kResults + t] = part[t][0];
  }
}

void solve(const Bodies& bodies, float* result) {
  box<<<bodies.systems, kThreads>>>(bodies, result);
}
