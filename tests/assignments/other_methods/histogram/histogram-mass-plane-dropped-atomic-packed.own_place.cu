// The naive program: each body is added to the map in global memory. The number that is added first
// goes through a place in shared memory that only this thread uses.
#include "assignment.h"
constexpr int kBlock = 256;
__global__ void add(int count, const float4* position, float* result) {
  __shared__ float own[kBlock];
  const int t = threadIdx.x, i = blockIdx.x * kBlock + t;
  if (i >= count) return;
  const float4 p = position[static_cast<size_t>(blockIdx.y) * count + i];
  const float u = (p.x + kExtent) * (kSide / (2 * kExtent)),
              v = (p.y + kExtent) * (kSide / (2 * kExtent));
  if (u < 0 || v < 0 || u >= kSide || v >= kSide) return;
  own[t] = 0;
  atomicAdd(&own[t], p.w);
  atomicAdd(&result[blockIdx.y * kCells + static_cast<int>(v) * kSide + static_cast<int>(u)],
            own[t]);
}
void solve(const Bodies& b, float* result) {
  cudaMemset(result, 0, sizeof(float) * kCells * b.systems);
  add<<<dim3((b.count + kBlock - 1) / kBlock, b.systems), kBlock>>>(b.count, b.position, result);
}
