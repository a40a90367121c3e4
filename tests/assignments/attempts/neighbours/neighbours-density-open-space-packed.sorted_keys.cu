// Sorts the bodies by their cells with a bitonic sort in global memory, and finds where each row of
// cells begins and ends by binary search.
#include "assignment.h"

constexpr int kBlock = 128;
constexpr int kSide = 8;
constexpr unsigned kNone = 0xffffffffu;

struct Key {
  unsigned cell;
  int body;
};

__device__ int along(float x) {
  return min(max(static_cast<int>((x + 1) / kCutOff), 0), kSide - 1);
}

__global__ void make_keys(Bodies b, int padded, Key* keys) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= padded) return;
  Key key = {kNone, i};
  if (i < b.count) {
    const float4 p = b.position[static_cast<size_t>(blockIdx.y) * b.count + i];
    key.cell = (along(p.z) * kSide + along(p.y)) * kSide + along(p.x);
  }
  keys[static_cast<size_t>(blockIdx.y) * padded + i] = key;
}

__global__ void exchange(int padded, int length, int step, Key* keys) {
  const int i = blockIdx.x * kBlock + threadIdx.x, other = i ^ step;
  if (i >= padded || other < i) return;
  Key* own = keys + static_cast<size_t>(blockIdx.y) * padded;
  const Key a = own[i], b = own[other];
  const bool up = (i & length) == 0;
  if ((a.cell > b.cell) == up && a.cell != b.cell) {
    own[i] = b;
    own[other] = a;
  }
}

__device__ int first_of(const Key* keys, int count, unsigned cell) {
  int low = 0, high = count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (keys[middle].cell < cell)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

__global__ void search(Bodies b, int padded, const Key* all, float* result) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= b.count) return;
  const Key* keys = all + static_cast<size_t>(blockIdx.y) * padded;
  const float4* position = b.position + static_cast<size_t>(blockIdx.y) * b.count;
  const float4 own = position[i];
  const int x = along(own.x), y = along(own.y);
  const int from = max(x - 1, 0), to = min(x + 1, kSide - 1);
  float sum = 0;
  const int z = along(own.z);
  for (int layer = max(z - 1, 0); layer <= min(z + 1, kSide - 1); ++layer)
    for (int row = max(y - 1, 0); row <= min(y + 1, kSide - 1); ++row) {
      const unsigned last = (layer * kSide + row) * kSide + to;
      for (int k = first_of(keys, b.count, (layer * kSide + row) * kSide + from);
           k < b.count && keys[k].cell <= last; ++k) {
        const int j = keys[k].body;
        if (j == i) continue;
        const float4 other = position[j];
        const float dx = other.x - own.x, dy = other.y - own.y;
        const float r2 = dx * dx + dy * dy + (other.z - own.z) * (other.z - own.z);
        if (r2 >= kCutOff * kCutOff) continue;
        const float inside = 1 - r2 / (kCutOff * kCutOff);
        sum += other.w * inside * inside;
      }
    }
  result[static_cast<size_t>(blockIdx.y) * b.count + i] = sum;
}

void solve(const Bodies& b, float* result) {
  int padded = 1;
  while (padded < b.count) padded *= 2;
  Key* keys;
  cudaMalloc(&keys, sizeof(Key) * padded * b.systems);
  const dim3 grid((padded + kBlock - 1) / kBlock, b.systems);
  make_keys<<<grid, kBlock>>>(b, padded, keys);
  for (int length = 2; length <= padded; length *= 2)
    for (int step = length / 2; step > 0; step /= 2)
      exchange<<<grid, kBlock>>>(padded, length, step, keys);
  search<<<dim3((b.count + kBlock - 1) / kBlock, b.systems), kBlock>>>(b, padded, keys, result);
  cudaFree(keys);
}
