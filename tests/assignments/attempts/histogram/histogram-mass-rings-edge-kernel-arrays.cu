// Mass in rings around the z axis. Several blocks work on a system, each with a map of its own in
// shared memory; a second kernel adds up the maps of a system.
#include <algorithm>

#include "assignment.h"

namespace {

constexpr int kThreads = 256;
constexpr int kBodiesPerBlock = 512;  // at least, if the system has that many
constexpr int kMaxBlocks = 128;       // per system

void check(cudaError_t e) {
  if (e != cudaSuccess) throw e;
}

// Block (b, s) takes every gridDim.x-th group of kThreads bodies of system s.
__global__ void mapOfBlock(Bodies bodies, float* maps) {
  __shared__ float map[kCells];
  if (threadIdx.x < kCells) map[threadIdx.x] = 0.0f;
  __syncthreads();
  const size_t begin = size_t(blockIdx.y) * bodies.count;
  for (size_t i = size_t(blockIdx.x) * kThreads + threadIdx.x; i < size_t(bodies.count);
       i += size_t(gridDim.x) * kThreads) {
    const float x = bodies.x[begin + i], y = bodies.y[begin + i];
    const int ring = int(fminf(sqrtf(x * x + y * y) * (kCells / kExtent), kCells - 1));
    atomicAdd(&map[ring], bodies.mass[begin + i]);
  }
  __syncthreads();
  if (threadIdx.x < kCells) {
    const size_t block = size_t(blockIdx.y) * gridDim.x + blockIdx.x;
    maps[block * kCells + threadIdx.x] = map[threadIdx.x];
  }
}

// One thread for each cell of the result.
__global__ void addMaps(const float* maps, int mapsPerSystem, int cells, float* result) {
  const int cell = blockIdx.x * kThreads + threadIdx.x;
  if (cell >= cells) return;
  const float* map = maps + size_t(cell / kCells) * mapsPerSystem * kCells + cell % kCells;
  float sum = 0.0f;
  for (int b = 0; b < mapsPerSystem; ++b) sum += map[size_t(b) * kCells];
  result[cell] = sum;
}

}  // namespace

void solve(const Bodies& bodies, float* result) {
  const int blocks = std::clamp(bodies.count / kBodiesPerBlock, 1, kMaxBlocks);
  float* maps = nullptr;
  check(cudaMalloc(&maps, size_t(bodies.systems) * blocks * kCells * sizeof(float)));
  mapOfBlock<<<dim3(blocks, bodies.systems), kThreads>>>(bodies, maps);
  check(cudaGetLastError());
  const int cells = bodies.systems * kCells;
  addMaps<<<(cells + kThreads - 1) / kThreads, kThreads>>>(maps, blocks, cells, result);
  check(cudaGetLastError());
  check(cudaFree(maps));
}
