// memory04_tile -- transposes through a tile in shared memory: reads and writes are both coalesced.
// Parent: memory03_transpose. Changed: the kernel. The tile has a pitch of 33 words, not 32.
// Build: nvcc -O3 -std=c++20 -arch=native memory/memory04_tile.cu -o memory04_tile
// Without a GPU: ./nbody build memory04_tile, or hostcuda/bin/nvcc instead of nvcc
#include "program.h"

using memory::Body;

constexpr int kTile = 32;
#ifndef PITCH
#define PITCH 33
#endif
constexpr int kPitch = PITCH;  // words from a row of the tile to the next

// to[i][s] = from[s][i], for the bodies i of the systems s. A block has a tile of 32 x 32 numbers.
__global__ void transpose(const float* from, float* to, int systems, int n) {
  __shared__ float tile[kTile][kPitch];
  const int first_i = blockIdx.x * kTile, first_s = blockIdx.y * kTile;
  int i = first_i + threadIdx.x, s = first_s + threadIdx.y;
  if (s < systems && i < n) tile[threadIdx.y][threadIdx.x] = from[s * n + i];
  __syncthreads();  // each thread writes a number that another thread has read
  i = first_i + threadIdx.y;
  s = first_s + threadIdx.x;
  if (s < systems && i < n) to[i * systems + s] = tile[threadIdx.x][threadIdx.y];
}

int main(int argc, char** argv) {
  const memory::Options run = memory::options(argc, argv);
  const int n = run.bodies, systems = run.systems, count = n * systems;
  const std::vector<Body> bodies = memory::bodies(count);
  std::vector<float> before(count), after(count);
  for (int k = 0; k < count; ++k) before[k] = bodies[k].x;

  const std::size_t bytes = count * sizeof(float);
  float *from = nullptr, *to = nullptr;
  CHECK(cudaMalloc(&from, bytes));
  CHECK(cudaMalloc(&to, bytes));
  CHECK(cudaMemcpy(from, before.data(), bytes, cudaMemcpyHostToDevice));
  const dim3 grid((n - 1) / kTile + 1, (systems - 1) / kTile + 1), block(kTile, kTile);
  transpose<<<grid, block>>>(from, to, systems, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(after.data(), to, bytes, cudaMemcpyDeviceToHost));
  const double time =
      memory::seconds(run.repeat, [&] { transpose<<<grid, block>>>(from, to, systems, n); });
  CHECK(cudaFree(from));
  CHECK(cudaFree(to));

  memory::WorstError error;
  for (int s = 0; s < systems; ++s) {
    for (int i = 0; i < n; ++i) error.add(after[i * systems + s], before[s * n + i], 0);
  }
  return memory::report("memory04_tile", run, 8.0 * count, time, error.worst, 0);
}
