// All pairs, padded to a multiple of 1024 bodies; two threads per body; no idle loads.
#include "assignment.h"
constexpr int kB = 64, kSlices = 2;
__device__ int along(float x) { return min(15, max(0, static_cast<int>((x + 1) / kCutOff))); }
__global__ void copy(Bodies b, int padded, float2* q, float* m, int* counts) {
  const int i = blockIdx.x * kB + threadIdx.x, s = blockIdx.y;
  if (i >= padded) return;
  float4 p = make_float4(9, 9, 9, 0);
  if (i < b.count) {
    p = b.position[static_cast<size_t>(s) * b.count + i];
    atomicAdd(&counts[s * 256 + along(p.y) * 16 + along(p.x)], 1);
  }
  q[static_cast<size_t>(s) * padded + i] = make_float2(p.x, p.y);
  m[static_cast<size_t>(s) * padded + i] = p.w;
}
__global__ void pairs(Bodies b, int padded, const float2* all, const float* ms, const int* counts,
                      float* parts) {
  const int i = blockIdx.x * kB + threadIdx.x, s = blockIdx.y, slice = blockIdx.z;
  if (i >= b.count) return;
  const float2* q = all + static_cast<size_t>(s) * padded;
  const float* m = ms + static_cast<size_t>(s) * padded;
  const float2 a = q[i];
  float sum = 0;
  for (int j = padded / kSlices * slice; j < padded / kSlices * (slice + 1); ++j) {
    const float2 o = q[j];
    const float dx = o.x - a.x, dy = o.y - a.y, r2 = dx * dx + dy * dy;
    if (r2 >= kCutOff * kCutOff || j == i) continue;
    const float w = 1 - r2 / (kCutOff * kCutOff);
    sum += m[j] * w * w;
  }
  parts[(static_cast<size_t>(slice) * b.systems + s) * b.count + i] = sum;
}
__global__ void add(int n, const float* parts, float* r) {
  const int i = blockIdx.x * kB + threadIdx.x;
  if (i < n) r[i] = parts[i] + parts[static_cast<size_t>(n) + i];
}
void solve(const Bodies& b, float* result) {
  const int padded = (b.count + 1023) / 1024 * 1024, n = b.systems * b.count;
  float2* q;
  float *m, *parts;
  int* counts;
  cudaMalloc(&q, sizeof(float2) * padded * b.systems);
  cudaMalloc(&m, sizeof(float) * padded * b.systems);
  cudaMalloc(&parts, sizeof(float) * n * 2);
  cudaMalloc(&counts, 1024 * b.systems);
  cudaMemset(counts, 0, 1024 * b.systems);
  copy<<<dim3(padded / kB, b.systems), kB>>>(b, padded, q, m, counts);
  pairs<<<dim3((b.count + kB - 1) / kB, b.systems, kSlices), kB>>>(b, padded, q, m, counts, parts);
  add<<<(n + kB - 1) / kB, kB>>>(n, parts, result);
  cudaFree(q);
  cudaFree(m);
  cudaFree(parts);
  cudaFree(counts);
}
