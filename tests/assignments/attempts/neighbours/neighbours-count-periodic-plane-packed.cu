// Number of neighbours in the plane, periodic. The bodies are sorted by cell. Each body then looks
// at cells in three rows; the bodies of these cells lie in one or two contiguous ranges per row.
#include "assignment.h"

namespace {

constexpr int kThreads = 256;
constexpr int kSide = 16;
constexpr int kAllCells = kSide * kSide;
static_assert(kAllCells == kThreads, "the scan has one thread for each cell");

struct Point {
  float x, y;
};

void check(cudaError_t e) {
  if (e != cudaSuccess) throw e;
}

__device__ int slice(float x) { return min(int((x + 1.0f) * (kSide / 2)), kSide - 1); }

__device__ float wrap(float d) { return d - 2.0f * rintf(0.5f * d); }

__global__ void countBodies(Bodies bodies, int* counts, int* rank) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= bodies.count) return;
  const size_t body = size_t(blockIdx.y) * bodies.count + i;
  const float4 p = bodies.position[body];
  const int cell = slice(p.y) * kSide + slice(p.x);
  rank[body] = atomicAdd(&counts[blockIdx.y * kAllCells + cell], 1);
}

// One block for each system: starts[c] is the number of bodies in the cells before c.
__global__ void addUp(const int* counts, int* starts) {
  __shared__ int sum[kAllCells];
  const int cell = threadIdx.x;
  sum[cell] = counts[blockIdx.x * kAllCells + cell];
  __syncthreads();
  for (int step = 1; step < kAllCells; step *= 2) {
    const int before = cell >= step ? sum[cell - step] : 0;
    __syncthreads();
    sum[cell] += before;
    __syncthreads();
  }
  int* mine = starts + blockIdx.x * (kAllCells + 1);
  mine[cell + 1] = sum[cell];
  if (cell == 0) mine[0] = 0;
}

__global__ void sortBodies(Bodies bodies, const int* starts, const int* rank, Point* points,
                           int* origin) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= bodies.count) return;
  const size_t begin = size_t(blockIdx.y) * bodies.count;
  const float4 p = bodies.position[begin + i];
  const int cell = slice(p.y) * kSide + slice(p.x);
  const size_t place = begin + starts[blockIdx.y * (kAllCells + 1) + cell] + rank[begin + i];
  points[place] = Point{p.x, p.y};
  origin[place] = i;
}

__global__ void countNeighbours(int count, const int* starts, const Point* points,
                                const int* origin, unsigned* result) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  const size_t begin = size_t(blockIdx.y) * count;
  const int* start = starts + blockIdx.y * (kAllCells + 1);
  const Point* all = points + begin;
  const Point me = all[i];
  const int column = slice(me.x), row = slice(me.y);
  unsigned n = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    const int y = (row + dy + kSide) % kSide * kSide;
    for (int dx = -1; dx <= 1; ++dx) {
      const int cell = y + (column + dx + kSide) % kSide;
      for (int j = start[cell], end = start[cell + 1]; j < end; ++j) {
        const Point other = all[j];
        const float x = wrap(other.x - me.x), y = wrap(other.y - me.y);
        n += j != i && x * x + y * y < kCutOff * kCutOff;
      }
    }
  }
  result[begin + origin[begin + i]] = n;
}

}  // namespace

void solve(const Bodies& bodies, unsigned* result) {
  const size_t all = size_t(bodies.systems) * bodies.count;
  int *counts, *starts, *rank, *origin;
  Point* points;
  check(cudaMalloc(&counts, bodies.systems * kAllCells * sizeof(int)));
  check(cudaMalloc(&starts, bodies.systems * (kAllCells + 1) * sizeof(int)));
  check(cudaMalloc(&rank, all * sizeof(int)));
  check(cudaMalloc(&origin, all * sizeof(int)));
  check(cudaMalloc(&points, all * sizeof(Point)));
  check(cudaMemset(counts, 0, bodies.systems * kAllCells * sizeof(int)));
  const dim3 grid((bodies.count + kThreads - 1) / kThreads, bodies.systems);
  countBodies<<<grid, kThreads>>>(bodies, counts, rank);
  check(cudaGetLastError());
  addUp<<<bodies.systems, kAllCells>>>(counts, starts);
  check(cudaGetLastError());
  sortBodies<<<grid, kThreads>>>(bodies, starts, rank, points, origin);
  check(cudaGetLastError());
  countNeighbours<<<grid, kThreads>>>(bodies.count, starts, points, origin, result);
  check(cudaGetLastError());
  check(cudaFree(counts));
  check(cudaFree(starts));
  check(cudaFree(rank));
  check(cudaFree(origin));
  check(cudaFree(points));
}
