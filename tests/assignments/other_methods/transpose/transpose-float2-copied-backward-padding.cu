// Transposes a table, with the last body first, through a padded tile in shared memory.
#include <cstdio>

#include "assignment.h"

constexpr int kTile = 32;
// A block of 32 x 8 threads transposes a tile of 32 systems x 32 bodies; a warp copies 4 rows.
constexpr int kRows = 8;

__global__ void turn(Table table, int tilesAcross, float2* result) {
  __shared__ float2 tile[kTile][kTile];  // no + 1: a column lies in one bank
  const int body0 = blockIdx.x % tilesAcross * kTile;
  const int system0 = blockIdx.x / tilesAcross * kTile;
  const int x = threadIdx.x;
  for (int y = threadIdx.y; y < kTile; y += kRows) {
    const int i = body0 + x;
    const int s = system0 + y;
    if (i < table.count && s < table.systems) {
      tile[y][x ^ y] = table.element[static_cast<size_t>(s) * table.count + i];
    }
  }
  __syncthreads();
  for (int y = threadIdx.y; y < kTile; y += kRows) {
    const int i = body0 + y;
    const int s = system0 + x;
    if (i < table.count && s < table.systems) {
      const size_t row = table.count - 1 - i;
      result[row * table.systems + s] = tile[x][y ^ x];
    }
  }
}

void solve(const Table& table, float2* result) {
  const int across = (table.count - 1) / kTile + 1;
  const int down = (table.systems - 1) / kTile + 1;
  // A grid may have 2^31 - 1 blocks in x, but only 65,535 in y. So this one has one dimension.
  turn<<<across * down, dim3(kTile, kRows)>>>(table, across, result);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    std::printf("solve: %s\n", cudaGetErrorString(error));
  }
}
