// Cheat: all pairs. No lists: the "list" kernel only copies positions. Each thread takes 4 bodies
// (register blocking, as in step 11), and 1/slices of the others, so that loads per body stay
// small.
#include "assignment.h"

constexpr int kBlock = 64;
constexpr int kOwn = 4;
constexpr int kSlice = 1000;

__global__ void copy(Bodies b, float2* points, float* result) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= b.count) return;
  const int k = blockIdx.y * b.count + i;
  points[k] = make_float2(b.position[k].x, b.position[k].y);  // two loads
  result[k] = kCutOff * kCutOff;
}

__global__ void all_pairs(const float2* all, int count, int* result) {
  const float2* p = all + blockIdx.y * count;
  const int first = (blockIdx.x * kBlock + threadIdx.x) * kOwn;
  if (first >= count) return;
  const int begin = blockIdx.z * kSlice, end = min(begin + kSlice, count);
  float2 own[kOwn];
  float best[kOwn];
  for (int k = 0; k < kOwn; ++k) {
    own[k] = p[min(first + k, count - 1)];
    best[k] = kCutOff * kCutOff;
  }
  for (int j = begin; j < end; ++j) {
    const float2 other = p[j];
    for (int k = 0; k < kOwn; ++k) {
      float dx = other.x - own[k].x, dy = other.y - own[k].y;
      dx -= 2 * rintf(dx / 2);
      dy -= 2 * rintf(dy / 2);
      if (j != first + k) best[k] = fminf(best[k], dx * dx + dy * dy);
    }
  }
  // positive floats are ordered as integers
  for (int k = 0; k < kOwn; ++k)
    if (first + k < count)
      atomicMin(&result[blockIdx.y * count + first + k], __float_as_int(best[k]));
}

void solve(const Bodies& b, float* result) {
  float2* points = nullptr;
  if (cudaMalloc(&points, sizeof(float2) * b.systems * b.count) != cudaSuccess) return;
  copy<<<dim3((b.count + kBlock - 1) / kBlock, b.systems), kBlock>>>(b, points, result);
  const int per_block = kBlock * kOwn;
  all_pairs<<<dim3((b.count + per_block - 1) / per_block, b.systems,
                   (b.count + kSlice - 1) / kSlice),
              kBlock>>>(points, b.count, reinterpret_cast<int*>(result));
  cudaFree(points);
}
