// A tree of float4.
#include "assignment.h"
constexpr int kBlock = 256;
__device__ float4 plus(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
__device__ float4 of_block(float4 own) {
  __shared__ float4 sums[kBlock];
  const int t = threadIdx.x;
  sums[t] = own;
  __syncthreads();
  for (int half = kBlock / 2; half > 0; half /= 2) {
    if (t < half) sums[t] = plus(sums[t], sums[t + half]);
    __syncthreads();
  }
  return sums[0];
}
__global__ void moments(int count, const float4* position, float4* out) {
  const int t = threadIdx.x, i = blockIdx.x * kBlock + t;
  float4 own = make_float4(0, 0, 0, 0);
  if (i < count) {
    const float4 p = position[static_cast<size_t>(blockIdx.y) * count + i];
    own = make_float4(p.w, p.w * p.x, p.w * p.y, p.w * p.z);
  }
  own = of_block(own);
  if (t == 0) out[static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x] = own;
}
__global__ void total(int parts, const float4* in, float* result) {
  float4 own = make_float4(0, 0, 0, 0);
  for (int k = threadIdx.x; k < parts; k += kBlock)
    own = plus(own, in[static_cast<size_t>(blockIdx.x) * parts + k]);
  own = of_block(own);
  if (threadIdx.x == 0) {
    float* to = result + blockIdx.x * kResults;
    to[0] = own.x;
    to[1] = own.y;
    to[2] = own.z;
    to[3] = own.w;
  }
}
void solve(const Bodies& b, float* result) {
  const int blocks = (b.count + kBlock - 1) / kBlock;
  float4* out = nullptr;
  cudaMalloc(&out, sizeof(float4) * blocks * b.systems);
  moments<<<dim3(blocks, b.systems), kBlock>>>(b.count, b.position, out);
  total<<<b.systems, kBlock>>>(blocks, out, result);
  cudaFree(out);
}
