// A warp per body searches cell after cell in sorted positions.
#include "assignment.h"

constexpr int kSide = 8;
constexpr int kCells = kSide * kSide * kSide;

__device__ inline int along(float x) { return min(kSide - 1, max(0, (int)((x + 1.0f) * 4.0f))); }
__device__ inline int cell_of(float4 p) {
  return (along(p.z) * kSide + along(p.y)) * kSide + along(p.x);
}
__device__ inline float shortest(float d) {
  if (d > 1.0f) d -= 2.0f;
  if (d < -1.0f) d += 2.0f;
  return d;
}
__device__ inline float part(float4 p, float4 q) {
  const float dx = shortest(q.x - p.x), dy = shortest(q.y - p.y), dz = shortest(q.z - p.z);
  const float r2 = dx * dx + dy * dy + dz * dz;
  if (r2 >= kCutOff * kCutOff) return 0;
  const float a = 1 - r2 / (kCutOff * kCutOff);
  return q.w * a * a;
}

__global__ void count(Bodies b, int* counts, int* cell, int* rank) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= b.systems * b.count) return;
  const int c = i / b.count * kCells + cell_of(b.position[i]);
  cell[i] = c;
  rank[i] = atomicAdd(&counts[c], 1);
}

// One block per system, one thread per cell.
__global__ void scan(int count, const int* counts, int* begins) {
  __shared__ int sums[kCells];
  const int c = threadIdx.x, mine = counts[blockIdx.x * kCells + c];
  sums[c] = mine;
  for (int step = 1; step < kCells; step *= 2) {
    __syncthreads();
    const int other = c >= step ? sums[c - step] : 0;
    __syncthreads();
    sums[c] += other;
  }
  begins[blockIdx.x * kCells + c] = blockIdx.x * count + sums[c] - mine;
}

__global__ void fill(Bodies b, const int* begins, const int* cell, const int* rank, float4* sorted,
                     int* original) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= b.systems * b.count) return;
  const int place = begins[cell[i]] + rank[i];
  sorted[place] = b.position[i];
  original[place] = i;
}

// One warp per body: the lanes share the bodies of a range of cells.
__global__ void search(Bodies b, const int* begins, const float4* sorted, const int* original,
                       float* result) {
  const int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (i >= b.systems * b.count) return;
  const int s = i / b.count, last = (s + 1) * b.count;
  const int* begin = begins + s * kCells;
  const float4 p = sorted[i];
  const int cx = along(p.x), cy = along(p.y), cz = along(p.z);
  float sum = 0;
  auto cells = [&](int first, int end) {
    const int to = end == kCells ? last : begin[end];
    for (int j = begin[first] + lane; j < to; j += 32)
      if (j != i) sum += part(p, sorted[j]);
  };
  for (int z = cz - 1; z <= cz + 1; ++z)
    for (int y = cy - 1; y <= cy + 1; ++y)
      for (int x = cx - 1; x <= cx + 1; ++x) {
        const int c = ((z & 7) * kSide + (y & 7)) * kSide + (x & 7);
        cells(c, c + 1);
      }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (lane == 0) result[original[i]] = sum;
}

void solve(const Bodies& b, float* result) {
  const int n = b.systems * b.count, cells = b.systems * kCells;
  const int blocks = (n + 255) / 256;
  char* all = nullptr;
  const size_t size =
      size_t(n) * (sizeof(float4) + 3 * sizeof(int)) + size_t(cells) * 2 * sizeof(int);
  if (cudaMalloc(&all, size) != cudaSuccess) return;
  float4* sorted = reinterpret_cast<float4*>(all);
  int* original = reinterpret_cast<int*>(sorted + n);
  int *cell = original + n, *rank = cell + n, *counts = rank + n, *begins = counts + cells;
  cudaMemsetAsync(counts, 0, cells * sizeof(int));
  count<<<blocks, 256>>>(b, counts, cell, rank);
  scan<<<b.systems, kCells>>>(b.count, counts, begins);
  fill<<<blocks, 256>>>(b, begins, cell, rank, sorted, original);
  search<<<(n + 7) / 8, 256>>>(b, begins, sorted, original, result);
  cudaFree(all);
}
