// The cells are half as wide as the cut-off, so a body looks at 125 of them: 25 rows of five cells,
// which are one piece of the sorted bodies each.
#include "assignment.h"

namespace {

constexpr int kSide = 16, kCells = kSide * kSide * kSide, kThreads = 128, kOfScan = 1024;
constexpr int kPerThread = kCells / kOfScan;

__device__ int along(float x) {
  return min(max(static_cast<int>((x + 1) * (kSide / 2)), 0), kSide - 1);
}

__device__ int cell_of(float x, float y, float z) {
  return (along(z) * kSide + along(y)) * kSide + along(x);
}

// The atomic operation also says which body of its cell a body is.
__global__ void count_bodies(Bodies bodies, int* counts, int* ranks) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= bodies.count) return;
  const size_t own = static_cast<size_t>(blockIdx.y) * bodies.count + i;
  const int cell = cell_of(bodies.x[own], bodies.y[own], bodies.z[own]);
  ranks[own] = atomicAdd(&counts[blockIdx.y * kCells + cell], 1);
}

__global__ void scan(int* counts, int* begins) {
  __shared__ int sums[kOfScan];
  const int t = threadIdx.x;
  const int* own = counts + blockIdx.x * kCells + t * kPerThread;
  int mine[kPerThread], sum = 0;
  for (int k = 0; k < kPerThread; ++k) {
    mine[k] = sum;
    sum += own[k];
  }
  sums[t] = sum;
  __syncthreads();
  for (int far = 1; far < kOfScan; far *= 2) {
    const int before = t >= far ? sums[t - far] : 0;
    __syncthreads();
    sums[t] += before;
    __syncthreads();
  }
  int* to = begins + blockIdx.x * (kCells + 1);
  for (int k = 0; k < kPerThread; ++k) to[t * kPerThread + k] = sums[t] - sum + mine[k];
  if (t == kOfScan - 1) to[kCells] = sums[t];
}

__global__ void sort(Bodies bodies, const int* begins, const int* ranks, float4* sorted) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= bodies.count) return;
  const size_t first = static_cast<size_t>(blockIdx.y) * bodies.count, own = first + i;
  const float x = bodies.x[own], y = bodies.y[own], z = bodies.z[own];
  const int k = begins[blockIdx.y * (kCells + 1) + cell_of(x, y, z)] + ranks[own];
  sorted[first + k] = make_float4(x, y, z, __int_as_float(i));
}

// Thread k searches for the k-th of the sorted bodies, so the lanes of a warp look at the same
// cells.
__global__ void search(int count, const int* all_begins, const float4* all_sorted, float* result) {
  const int k = blockIdx.x * kThreads + threadIdx.x;
  if (k >= count) return;
  const float4* sorted = all_sorted + static_cast<size_t>(blockIdx.y) * count;
  const int* begins = all_begins + blockIdx.y * (kCells + 1);
  const float4 own = sorted[k];
  const int cx = along(own.x), cy = along(own.y), cz = along(own.z);
  const int low = max(cx - 2, 0), high = min(cx + 2, kSide - 1);
  float least = kCutOff * kCutOff;
  for (int z = max(cz - 2, 0); z <= min(cz + 2, kSide - 1); ++z) {
    for (int y = max(cy - 2, 0); y <= min(cy + 2, kSide - 1); ++y) {
      const int row = (z * kSide + y) * kSide, end = begins[row + high + 1];
      for (int j = begins[row + low]; j < end; ++j) {
        if (j == k) continue;
        const float4 other = sorted[j];
        const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
        least = fminf(least, dx * dx + dy * dy + dz * dz);
      }
    }
  }
  result[static_cast<size_t>(blockIdx.y) * count + __float_as_int(own.w)] = least;
}

}  // namespace

void solve(const Bodies& bodies, float* result) {
  const size_t all = static_cast<size_t>(bodies.systems) * bodies.count;
  const size_t cells = static_cast<size_t>(bodies.systems) * (kCells + 1);
  int *counts = nullptr, *begins = nullptr, *ranks = nullptr;
  float4* sorted = nullptr;
  cudaMalloc(&counts, cells * sizeof(int));
  cudaMalloc(&begins, cells * sizeof(int));
  cudaMalloc(&ranks, all * sizeof(int));
  cudaMalloc(&sorted, all * sizeof(float4));
  cudaMemset(counts, 0, cells * sizeof(int));
  const dim3 grid((bodies.count + kThreads - 1) / kThreads, bodies.systems);
  count_bodies<<<grid, kThreads>>>(bodies, counts, ranks);
  scan<<<bodies.systems, kOfScan>>>(counts, begins);
  sort<<<grid, kThreads>>>(bodies, begins, ranks, sorted);
  search<<<grid, kThreads>>>(bodies.count, begins, sorted, result);
  cudaFree(counts);
  cudaFree(begins);
  cudaFree(ranks);
  cudaFree(sorted);
}
