// Only two of the five rounds of shuffles: every fourth thread writes a float4 of sums to memory,
// and the second kernel adds up these. Nothing is added up in a block.
#include "assignment.h"
constexpr int kBlock = 128, kEach = 8;
__global__ void moments(int count, int parts, const float4* position, float4* out) {
  const int t = threadIdx.x;
  float4 s = make_float4(0, 0, 0, 0);
  for (int k = 0; k < kEach; ++k) {
    const int i = (blockIdx.x * kEach + k) * kBlock + t;
    if (i >= count) break;
    const float4 p = position[static_cast<size_t>(blockIdx.y) * count + i];
    s.x += p.w;
    s.y += p.w * p.x;
    s.z += p.w * p.y;
    s.w += p.w * p.z;
  }
  for (int far = 2; far > 0; far /= 2) {
    s.x += __shfl_down_sync(~0u, s.x, far);
    s.y += __shfl_down_sync(~0u, s.y, far);
    s.z += __shfl_down_sync(~0u, s.z, far);
    s.w += __shfl_down_sync(~0u, s.w, far);
  }
  if (t % 4 == 0)
    out[static_cast<size_t>(blockIdx.y) * parts + blockIdx.x * (kBlock / 4) + t / 4] = s;
}
__global__ void total(int parts, const float4* in, float* result) {
  const float* from = reinterpret_cast<const float*>(in + static_cast<size_t>(blockIdx.x) * parts);
  float sum = 0;
  for (int k = 0; k < parts; ++k) sum += from[4 * k + threadIdx.x];
  result[blockIdx.x * kResults + threadIdx.x] = sum;
}
void solve(const Bodies& b, float* result) {
  const int blocks = (b.count + kBlock * kEach - 1) / (kBlock * kEach),
            parts = blocks * (kBlock / 4);
  float4* out = nullptr;
  cudaMalloc(&out, sizeof(float4) * parts * b.systems);
  moments<<<dim3(blocks, b.systems), kBlock>>>(b.count, parts, b.position, out);
  total<<<b.systems, kResults>>>(parts, out, result);
  cudaFree(out);
}
