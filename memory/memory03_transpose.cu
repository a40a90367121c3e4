// memory03_transpose -- transposes an S x N matrix: numbers that are stored system by system are
// written body by body. A thread reads one number and writes it.
// Parent: memory02_arrays. Changed: the task, in which reads or writes must have a large stride.
// Build: nvcc -O3 -std=c++20 -arch=native memory/memory03_transpose.cu -o memory03_transpose
// Without a GPU: ./nbody build memory03_transpose, or hostcuda/bin/nvcc instead of nvcc
#include "program.h"

using memory::Body;

constexpr int kTile = 32;

// to[i][s] = from[s][i], for the bodies i of the systems s. A block has a tile of 32 x 32 numbers.
__global__ void transpose(const float* from, float* to, int systems, int n) {
  const int i = blockIdx.x * kTile + threadIdx.x;
  const int s = blockIdx.y * kTile + threadIdx.y;
  if (s < systems && i < n) to[i * systems + s] = from[s * n + i];
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
  return memory::report("memory03_transpose", run, 8.0 * count, time, error.worst, 0);
}
