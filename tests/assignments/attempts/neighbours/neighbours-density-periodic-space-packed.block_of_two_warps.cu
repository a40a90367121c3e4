// One block per system makes the lists in shared memory (no global atomics); then a block per cell
// with a tile of the bodies around in shared memory.
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

__global__ void make(Bodies b, float4* sorted, int* original, int* begins) {
  __shared__ int counts[kCells];
  const int first = blockIdx.x * b.count, c = threadIdx.x;
  counts[c] = 0;
  __syncthreads();
  for (int i = c; i < b.count; i += kCells) atomicAdd(&counts[cell_of(b.position[first + i])], 1);
  __syncthreads();
  const int mine = counts[c];
  for (int step = 1; step < kCells; step *= 2) {
    const int other = c >= step ? counts[c - step] : 0;
    __syncthreads();
    counts[c] += other;
    __syncthreads();
  }
  const int begin = counts[c] - mine;
  begins[blockIdx.x * (kCells + 1) + c] = first + begin;
  if (c == 0) begins[blockIdx.x * (kCells + 1) + kCells] = first + b.count;
  __syncthreads();
  counts[c] = begin;
  __syncthreads();
  for (int i = c; i < b.count; i += kCells) {
    const float4 p = b.position[first + i];
    const int place = first + atomicAdd(&counts[cell_of(p)], 1);
    sorted[place] = p;
    original[place] = first + i;
  }
}

constexpr int kThreads = 64;
__global__ void search(const float4* sorted, const int* original, const int* begins,
                       float* result) {
  __shared__ float4 tile[kThreads];
  __shared__ int which[kThreads];
  const int system = blockIdx.x / kCells, cell = blockIdx.x % kCells;
  const int* begin = begins + system * (kCells + 1);
  const int from = begin[cell], to = begin[cell + 1];
  const int cx = cell % 8, cy = cell / 8 % 8, cz = cell / 64;
  for (int base = from; base < to; base += kThreads) {
    const int i = base + threadIdx.x;
    const float4 p = i < to ? sorted[i] : make_float4(0, 0, 0, 0);
    float sum = 0;
    for (int k = 0; k < 27; ++k) {
      const int x = (cx + k % 3 + 7) % 8, y = (cy + k / 3 % 3 + 7) % 8, z = (cz + k / 9 + 7) % 8;
      const int other = (z * 8 + y) * 8 + x;
      const int end = begin[other + 1];
      for (int start = begin[other]; start < end; start += kThreads) {
        const int j = start + threadIdx.x, have = min(kThreads, end - start);
        __syncthreads();
        if (j < end) {
          tile[threadIdx.x] = sorted[j];
          which[threadIdx.x] = j;
        }
        __syncthreads();
        if (i < to)
          for (int t = 0; t < have; ++t)
            if (which[t] != i) sum += part(p, tile[t]);
      }
    }
    if (i < to) result[original[i]] = sum;
  }
}

void solve(const Bodies& b, float* result) {
  const size_t n = size_t(b.systems) * b.count;
  float4* sorted;
  int *original, *begins;
  if (cudaMalloc(&sorted, n * sizeof(float4)) != cudaSuccess) return;
  if (cudaMalloc(&original, n * sizeof(int)) == cudaSuccess) {
    if (cudaMalloc(&begins, size_t(b.systems) * (kCells + 1) * sizeof(int)) == cudaSuccess) {
      make<<<b.systems, kCells>>>(b, sorted, original, begins);
      search<<<b.systems * kCells, kThreads>>>(sorted, original, begins, result);
      cudaFree(begins);
    }
    cudaFree(original);
  }
  cudaFree(sorted);
}
