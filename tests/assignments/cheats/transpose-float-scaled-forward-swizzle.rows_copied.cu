// Cheat: cudaMemcpy2D transposes; the kernel only multiplies, through a tile that nobody needs.
#include "assignment.h"

constexpr int kTile = 32;
constexpr int kRows = 8;

__global__ void scale(Table t, float* scratch, int along) {
  __shared__ volatile float tile[kTile][kTile];
  const int i = (blockIdx.x % along) * kTile + threadIdx.x;
  const int first_s = (blockIdx.x / along) * kTile;
  for (int row = threadIdx.y; row < kTile; row += kRows) {
    const int s = first_s + row;
    if (s < t.systems && i < t.count) {
      tile[row][threadIdx.x ^ row] = t.element[s * t.count + i];
      scratch[s * t.count + i] = tile[row][threadIdx.x ^ row] * t.factor[s];
    }
  }
}

void solve(const Table& t, float* result) {
  const int along = (t.count + kTile - 1) / kTile, down = (t.systems + kTile - 1) / kTile;
  float* scratch = nullptr;
  if (cudaMalloc(&scratch, sizeof(float) * t.count * t.systems) != cudaSuccess) return;
  scale<<<along * down, dim3(kTile, kRows)>>>(t, scratch, along);
  for (int s = 0; s < t.systems; ++s)
    cudaMemcpy2DAsync(result + s, t.systems * sizeof(float),
                      scratch + static_cast<size_t>(s) * t.count, sizeof(float), sizeof(float),
                      t.count, cudaMemcpyDeviceToDevice, 0);
  cudaFree(scratch);
}
