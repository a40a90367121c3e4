// Soft force of the neighbours in a periodic square. Counting sort of the bodies by cell, then each
// body walks its 3 x 3 cells. Sorted copies of x, y and mass keep the reads of a cell together.
#include "assignment.h"

namespace {

constexpr int kGrid = 16;
constexpr int kCellsOfSystem = kGrid * kGrid;
constexpr int kThreads = 128;

__device__ int cellCoordinate(float x) {
  int c = static_cast<int>((x + 1.0f) / kCutOff);
  return max(0, min(kGrid - 1, c));
}

__device__ int cellOf(float x, float y) { return cellCoordinate(y) * kGrid + cellCoordinate(x); }

// Counts the bodies of each cell, and numbers the bodies within their cell.
__global__ void countBodies(Bodies b, int* number, int* place) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= b.systems * b.count) return;
  int cell = i / b.count * kCellsOfSystem + cellOf(b.x[i], b.y[i]);
  place[i] = atomicAdd(&number[cell], 1);
}

// One block per system: exclusive scan over its 256 cells (Hillis and Steele).
__global__ void firstOfCells(const int* number, int* first, int count) {
  __shared__ int sums[2][kCellsOfSystem];
  int t = threadIdx.x;
  int own = number[blockIdx.x * kCellsOfSystem + t];
  int from = 0;
  sums[0][t] = own;
  __syncthreads();
  for (int d = 1; d < kCellsOfSystem; d *= 2) {
    sums[1 - from][t] = sums[from][t] + (t >= d ? sums[from][t - d] : 0);
    from = 1 - from;
    __syncthreads();
  }
  first[blockIdx.x * kCellsOfSystem + t] = blockIdx.x * count + sums[from][t] - own;
}

__global__ void sortBodies(Bodies b, const int* first, const int* place, float4* sorted) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= b.systems * b.count) return;
  float x = b.x[i], y = b.y[i];
  int cell = i / b.count * kCellsOfSystem + cellOf(x, y);
  sorted[first[cell] + place[i]] = float4{x, y, b.mass[i], __int_as_float(i)};
}

__device__ float wrap(float d) { return d > 1.0f ? d - 2.0f : d < -1.0f ? d + 2.0f : d; }

// Thread k takes the k-th sorted body: neighbouring threads then look at the same cells.
__global__ void addUp(Bodies b, const int* first, const int* number, const float4* sorted,
                      float* result) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= b.systems * b.count) return;
  float4 me = sorted[k];
  int cells = k / b.count * kCellsOfSystem;
  int cx = cellCoordinate(me.x), cy = cellCoordinate(me.y);
  float fx = 0, fy = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      int cell = cells + (cy + dy + kGrid) % kGrid * kGrid + (cx + dx + kGrid) % kGrid;
      int begin = first[cell];
      int end = begin + number[cell];
      for (int j = begin; j < end; ++j) {
        if (j == k) continue;
        float4 other = sorted[j];
        float x = other.x - me.x, y = other.y - me.y;
        float r2 = x * x + y * y;
        if (r2 >= kCutOff * kCutOff) continue;
        float w = other.z * (1 - r2 / (kCutOff * kCutOff));
        fx += w * x;
        fy += w * y;
      }
    }
  }
  int i = __float_as_int(me.w);
  result[3 * i] = fx;
  result[3 * i + 1] = fy;
  result[3 * i + 2] = 0;
}

}  // namespace

void solve(const Bodies& bodies, float* result) {
  int n = bodies.systems * bodies.count;
  int blocks = (n + kThreads - 1) / kThreads;
  size_t cells = static_cast<size_t>(bodies.systems) * kCellsOfSystem;
  int *number = nullptr, *first = nullptr, *place = nullptr;
  float4* sorted = nullptr;
  bool ok = cudaMalloc(&number, cells * sizeof(int)) == cudaSuccess &&
            cudaMalloc(&first, cells * sizeof(int)) == cudaSuccess &&
            cudaMalloc(&place, n * sizeof(int)) == cudaSuccess &&
            cudaMalloc(&sorted, n * sizeof(float4)) == cudaSuccess &&
            cudaMemset(number, 0, cells * sizeof(int)) == cudaSuccess;
  if (ok) {
    countBodies<<<blocks, kThreads>>>(bodies, number, place);
    firstOfCells<<<bodies.systems, kCellsOfSystem>>>(number, first, bodies.count);
    sortBodies<<<blocks, kThreads>>>(bodies, first, place, sorted);
    addUp<<<blocks, kThreads>>>(bodies, first, number, sorted, result);
  }
  cudaFree(number);
  cudaFree(first);
  cudaFree(place);
  cudaFree(sorted);
}
