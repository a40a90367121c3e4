// A warp adds four sums with six shuffles instead of twenty: in the first two rounds, a lane gives
// away the sums that other lanes will complete, so that afterwards each lane has one sum.
#include "assignment.h"

namespace {

constexpr int kWarps = 8, kBlock = 32 * kWarps, kPerThread = 2;
constexpr unsigned kAll = 0xffffffffu;

// Returns sum number lane % 4 of all lanes.
__device__ float of_warp(float4 own, int lane) {
  const bool is_odd = lane & 1, is_high = lane & 2;
  const float first = (is_odd ? own.y : own.x) + __shfl_xor_sync(kAll, is_odd ? own.x : own.y, 1);
  const float second = (is_odd ? own.w : own.z) + __shfl_xor_sync(kAll, is_odd ? own.z : own.w, 1);
  float sum = (is_high ? second : first) + __shfl_xor_sync(kAll, is_high ? first : second, 2);
  for (int far = 4; far < 32; far *= 2) sum += __shfl_xor_sync(kAll, sum, far);
  return sum;
}

__global__ void moments(Bodies bodies, float* result) {
  __shared__ float sums[kWarps][4];
  const size_t first = static_cast<size_t>(blockIdx.y) * bodies.count;
  float4 own = {0, 0, 0, 0};
  for (int k = 0; k < kPerThread; ++k) {
    const int i = (blockIdx.x * kPerThread + k) * kBlock + threadIdx.x;
    if (i >= bodies.count) break;
    const float mass = bodies.mass[first + i];
    own.x += mass;
    own.y += mass * bodies.x[first + i];
    own.z += mass * bodies.y[first + i];
    own.w += mass * bodies.z[first + i];
  }
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float sum = of_warp(own, lane);
  if (lane < 4) sums[warp][lane] = sum;
  __syncthreads();
  if (warp > 0) return;
  float all = (&sums[0][0])[lane];  // kWarps times 4 sums, one for each lane
  for (int far = 4; far < 32; far *= 2) all += __shfl_xor_sync(kAll, all, far);
  if (lane < 4) atomicAdd(&result[blockIdx.y * 4 + lane], all);
}

}  // namespace

void solve(const Bodies& bodies, float* result) {
  if (cudaMemset(result, 0, 4 * sizeof(float) * bodies.systems) != cudaSuccess) return;
  const int blocks = (bodies.count + kBlock * kPerThread - 1) / (kBlock * kPerThread);
  moments<<<dim3(blocks, bodies.systems), kBlock>>>(bodies, result);
}
