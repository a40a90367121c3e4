// Neighbours within a cut-off: count the bodies of each cell, scan, fill the lists, search 9 cells.
#include "assignment.h"

constexpr int kBlock = 128;
constexpr int kSide = 16;
constexpr int kCells = kSide * kSide;

struct Lists {
  int* counts;     // [systems * kCells] bodies per cell; later the number of bodies placed
  int* starts;     // [systems * (kCells + 1)] where each cell's list begins
  float2* points;  // [systems * count] positions, sorted by cell
  int* order;      // [systems * count] the body at each place
};

__device__ int place(float v) {
  const int c = static_cast<int>(floorf((v + 1) / kCutOff));
  return min(max(c, 0), kSide - 1);  // v + 1 may round to 2
}
__device__ int cell_of(float x, float y) { return place(y) * kSide + place(x); }

__global__ void count_cells(Bodies bodies, Lists lists) {
  const int i = blockIdx.x * kBlock + threadIdx.x, s = blockIdx.y;
  if (i >= bodies.count) return;
  const float4 p = bodies.position[s * bodies.count + i];
  lists.counts[s * kCells + cell_of(p.x, p.y)]++;  // slip: no atomic
}

// One block per system, one thread per cell.
__global__ void scan(Lists lists) {
  __shared__ int sums[kCells];
  const int s = blockIdx.x, k = threadIdx.x;
  sums[k] = lists.counts[s * kCells + k];
  __syncthreads();  // all counts are in shared memory
  for (int step = 1; step < kCells; step *= 2) {
    const int before = k >= step ? sums[k - step] : 0;
    __syncthreads();  // everyone has read
    sums[k] += before;
    __syncthreads();  // everyone has written
  }
  lists.starts[s * (kCells + 1) + k + 1] = sums[k];
  if (k == 0) lists.starts[s * (kCells + 1)] = 0;
  lists.counts[s * kCells + k] = 0;
}

__global__ void fill(Bodies bodies, Lists lists) {
  const int i = blockIdx.x * kBlock + threadIdx.x, s = blockIdx.y;
  if (i >= bodies.count) return;
  const float4 p = bodies.position[s * bodies.count + i];
  const int cell = cell_of(p.x, p.y);
  const int number = lists.counts[s * kCells + cell]++;
  const int at = s * bodies.count + lists.starts[s * (kCells + 1) + cell] + number;
  lists.points[at] = make_float2(p.x, p.y);
  lists.order[at] = i;
}

// The threads of a warp take bodies that are neighbours in the lists, so they look at the same
// cells.
__global__ void search(Lists lists, int count, float* result) {
  const int i = blockIdx.x * kBlock + threadIdx.x, s = blockIdx.y;
  if (i >= count) return;
  const float2* points = lists.points + s * count;
  const int* starts = lists.starts + s * (kCells + 1);
  const float2 own = points[i];
  const int column = place(own.x), row = place(own.y);
  float best = kCutOff * kCutOff;
  for (int dr = -1; dr <= 1; ++dr) {
    for (int dc = -1; dc <= 1; ++dc) {
      const int cell = (row + dr + kSide) % kSide * kSide + (column + dc + kSide) % kSide;
      const int end = starts[cell + 1];
      for (int j = starts[cell]; j < end; ++j) {
        const float2 other = points[j];
        float dx = other.x - own.x, dy = other.y - own.y;
        if (dx > 1) dx -= 2;
        if (dx < -1) dx += 2;
        if (dy > 1) dy -= 2;
        if (dy < -1) dy += 2;
        if (j != i) best = fminf(best, dx * dx + dy * dy);
      }
    }
  }
  result[s * count + lists.order[s * count + i]] = best;
}

void solve(const Bodies& bodies, float* result) {
  const size_t systems = bodies.systems, n = systems * bodies.count;
  Lists lists = {};
  const bool ok = cudaMalloc(&lists.counts, systems * kCells * sizeof(int)) == cudaSuccess &&
                  cudaMalloc(&lists.starts, systems * (kCells + 1) * sizeof(int)) == cudaSuccess &&
                  cudaMalloc(&lists.points, n * sizeof(float2)) == cudaSuccess &&
                  cudaMalloc(&lists.order, n * sizeof(int)) == cudaSuccess;
  if (ok) {
    const dim3 grid((bodies.count + kBlock - 1) / kBlock, bodies.systems);
    cudaMemset(lists.counts, 0, systems * kCells * sizeof(int));
    count_cells<<<grid, kBlock>>>(bodies, lists);
    scan<<<bodies.systems, kCells>>>(lists);
    fill<<<grid, kBlock>>>(bodies, lists);
    search<<<grid, kBlock>>>(lists, bodies.count, result);
  }
  cudaFree(lists.counts);
  cudaFree(lists.starts);
  cudaFree(lists.points);
  cudaFree(lists.order);
}
