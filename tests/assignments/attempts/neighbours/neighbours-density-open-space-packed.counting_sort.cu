// Cells of the cut-off's width; counting sort of the bodies by cell; search in 9 rows of 3 cells.
#include "assignment.h"

constexpr int kSide = 8;
constexpr int kCells = kSide * kSide * kSide;
constexpr int kThreads = 128;

__device__ int coordinate(float x) {
  int c = static_cast<int>(floorf((x + 1.0f) * (kSide / 2.0f)));
  return min(max(c, 0), kSide - 1);
}

__device__ int cell_of(float4 p) {
  return (coordinate(p.z) * kSide + coordinate(p.y)) * kSide + coordinate(p.x);
}

// Counts the bodies of each cell; the old count is the body's place within its cell.
__global__ void count_bodies(int total, int count, const float4* position, int* counts,
                             int* place) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  int cell = i / count * kCells + cell_of(position[i]);
  place[i] = atomicAdd(&counts[cell], 1);
}

// One block per system: begin[c] is the index of the first body of cell c.
__global__ void scan(int count, const int* counts, int* begin) {
  __shared__ int sums[kCells];
  int t = threadIdx.x;
  int own = counts[blockIdx.x * kCells + t];
  sums[t] = own;
  __syncthreads();
  for (int step = 1; step < kCells; step *= 2) {
    int left = t >= step ? sums[t - step] : 0;
    __syncthreads();
    sums[t] += left;
    __syncthreads();
  }
  begin[blockIdx.x * kCells + t] = blockIdx.x * count + sums[t] - own;
}

__global__ void sort(int total, int count, const float4* position, const int* begin,
                     const int* place, float4* sorted, int* origin) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  float4 p = position[i];
  int to = begin[i / count * kCells + cell_of(p)] + place[i];
  sorted[to] = p;
  origin[to] = i;
}

__global__ void search(int total, int count, const float4* sorted, const int* begin,
                       const int* origin, float* result) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  float4 a = sorted[i];
  int system = i / count;
  const int* first = begin + system * kCells;
  int end = (system + 1) * count;
  int cx = coordinate(a.x), cy = coordinate(a.y), cz = coordinate(a.z);
  int x0 = max(cx - 1, 0), x1 = min(cx + 1, kSide - 1);
  float sum = 0.0f;
  for (int z = max(cz - 1, 0); z <= min(cz + 1, kSide - 1); ++z) {
    for (int y = max(cy - 1, 0); y <= min(cy + 1, kSide - 1); ++y) {
      int row = (z * kSide + y) * kSide;
      int from = first[row + x0];
      int to = row + x1 + 1 < kCells ? first[row + x1 + 1] : end;
      for (int j = from; j < to; ++j) {
        float4 b = sorted[j];
        float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
        float d = dx * dx + dy * dy + dz * dz;
        if (j != i && d < kCutOff * kCutOff) {
          float w = 1.0f - d / (kCutOff * kCutOff);
          sum += b.w * w * w;
        }
      }
    }
  }
  result[origin[i]] = sum;
}

void solve(const Bodies& bodies, float* result) {
  int total = bodies.systems * bodies.count;
  size_t cells = static_cast<size_t>(bodies.systems) * kCells;
  int* counts = nullptr;
  int* begin = nullptr;
  int* place = nullptr;
  int* origin = nullptr;
  float4* sorted = nullptr;
  if (cudaMalloc(&counts, cells * sizeof(int)) == cudaSuccess &&
      cudaMalloc(&begin, cells * sizeof(int)) == cudaSuccess &&
      cudaMalloc(&place, total * sizeof(int)) == cudaSuccess &&
      cudaMalloc(&origin, total * sizeof(int)) == cudaSuccess &&
      cudaMalloc(&sorted, total * sizeof(float4)) == cudaSuccess &&
      cudaMemset(counts, 0, cells * sizeof(int)) == cudaSuccess) {
    int blocks = (total + kThreads - 1) / kThreads;
    count_bodies<<<blocks, kThreads>>>(total, bodies.count, bodies.position, counts, place);
    scan<<<bodies.systems, kCells>>>(bodies.count, counts, begin);
    sort<<<blocks, kThreads>>>(total, bodies.count, bodies.position, begin, place, sorted, origin);
    search<<<blocks, kThreads>>>(total, bodies.count, sorted, begin, origin, result);
  }
  cudaFree(sorted);
  cudaFree(origin);
  cudaFree(place);
  cudaFree(begin);
  cudaFree(counts);
}
