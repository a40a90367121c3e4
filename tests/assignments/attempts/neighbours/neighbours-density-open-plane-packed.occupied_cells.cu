// Counting sort; a list of the occupied cells; a warp per occupied cell and 32 of its bodies.
#include "assignment.h"
constexpr int kB = 64;
__device__ int along(float x) { return min(15, max(0, static_cast<int>((x + 1) / kCutOff))); }
__device__ int cell_of(float4 p) { return along(p.y) * 16 + along(p.x); }
__global__ void count(Bodies b, int* counts) {
  const int i = blockIdx.x * kB + threadIdx.x;
  if (i >= b.systems * b.count) return;
  atomicAdd(&counts[i / b.count * 256 + cell_of(b.position[i])], 1);
}
__device__ float term(float4 o, float4 a) {
  const float dx = o.x - a.x, dy = o.y - a.y, r2 = dx * dx + dy * dy;
  if (r2 >= kCutOff * kCutOff) return 0;
  const float w = 1 - r2 / (kCutOff * kCutOff);
  return o.w * w * w;
}

__global__ void scan(int* counts) {
  __shared__ int sums[256];
  const int c = threadIdx.x, own = counts[blockIdx.x * 256 + c];
  sums[c] = own;
  __syncthreads();
  for (int far = 1; far < 256; far *= 2) {
    const int before = c >= far ? sums[c - far] : 0;
    __syncthreads();
    sums[c] += before;
    __syncthreads();
  }
  counts[blockIdx.x * 256 + c] = sums[c] - own;
}
__global__ void fill(Bodies b, int* ends, float4* sorted, int* order) {
  const int i = blockIdx.x * kB + threadIdx.x;
  if (i >= b.systems * b.count) return;
  const float4 p = b.position[i];
  const int s = i / b.count, k = s * b.count + atomicAdd(&ends[s * 256 + cell_of(p)], 1);
  sorted[k] = p;
  order[k] = i;
}

__global__ void occupied(const int* counts, int* many, int* cells) {
  const int c = threadIdx.x, s = blockIdx.x;
  if (counts[s * 256 + c]) cells[s * 256 + atomicAdd(&many[s], 1)] = c;
}
__global__ void search(int n, const int* many, const int* cells, const int* ends,
                       const float4* sorted, const int* order, float* r) {
  __shared__ float4 tile[32];
  const int s = blockIdx.y, lane = threadIdx.x;
  if (static_cast<int>(blockIdx.x) >= many[s]) return;
  const int c = cells[s * 256 + blockIdx.x], x = c % 16, y = c / 16;
  const int* e = ends + s * 256;
  const float4* p = sorted + static_cast<size_t>(s) * n;
  const int own1 = e[c];
  for (int base = c ? e[c - 1] : 0; base < own1; base += 32) {
    const int i = base + lane;
    const float4 a = p[min(i, n - 1)];
    float sum = 0;
    for (int row = max(0, y - 1); row <= min(15, y + 1); ++row) {
      const int left = row * 16 + max(0, x - 1), to = e[row * 16 + min(15, x + 1)];
      for (int k = left ? e[left - 1] : 0; k < to; k += 32) {
        __syncwarp();  // all lanes are done with the old tile
        if (k + lane < to) tile[lane] = p[k + lane];
        __syncwarp();  // the tile is complete
        if (i < own1)
          for (int j = 0; j < min(32, to - k); ++j)
            if (k + j != i) sum += term(tile[j], a);
      }
    }
    if (i < own1) r[order[static_cast<size_t>(s) * n + i]] = sum;
  }
}
void solve(const Bodies& b, float* result) {
  const int n = b.count, all = b.systems * n;
  int *counts, *order, *many, *cells;
  float4* sorted;
  cudaMalloc(&counts, 1024 * b.systems);
  cudaMalloc(&cells, 1024 * b.systems);
  cudaMalloc(&many, 4 * b.systems);
  cudaMalloc(&order, 4 * all);
  cudaMalloc(&sorted, 16 * all);
  cudaMemset(counts, 0, 1024 * b.systems);
  cudaMemset(many, 0, 4 * b.systems);
  count<<<(all + kB - 1) / kB, kB>>>(b, counts);
  occupied<<<b.systems, 256>>>(counts, many, cells);
  scan<<<b.systems, 256>>>(counts);
  fill<<<(all + kB - 1) / kB, kB>>>(b, counts, sorted, order);
  search<<<dim3(256, b.systems), 32>>>(n, many, cells, counts, sorted, order, result);
  cudaFree(counts);
  cudaFree(cells);
  cudaFree(many);
  cudaFree(order);
  cudaFree(sorted);
}
