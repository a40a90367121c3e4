// memory07_atomics -- how many bodies are in each of 256 shells: every body adds 1 to a counter.
// Parent: memory06_warps. Changed: the task; the data decide which counter a thread changes.
// Build: nvcc -O3 -std=c++20 -arch=native memory/memory07_atomics.cu -o memory07_atomics
// Without a GPU: ./nbody build memory07_atomics, or hostcuda/bin/nvcc instead of nvcc
#include "program.h"

using memory::Body;

constexpr int kBlockSize = 256;
constexpr int kShells = 256;

// All shells have the same thickness in r^2; the last shell also counts all bodies beyond it.
__device__ int shell_of(const float4& body) {
  const float squared = body.x * body.x + body.y * body.y + body.z * body.z;
  const int shell = static_cast<int>(squared * kShells);
  return shell < kShells ? shell : kShells - 1;
}

__global__ void count_bodies(const float4* bodies, int n, unsigned* counts) {
  for (int i = blockIdx.x * kBlockSize + threadIdx.x; i < n; i += gridDim.x * kBlockSize) {
    atomicAdd(&counts[shell_of(bodies[i])], 1u);
  }
}

int main(int argc, char** argv) {
  const memory::Options run = memory::options(argc, argv);
  const int n = run.systems * run.bodies;
  const std::vector<Body> bodies = memory::bodies(n);
  std::vector<float4> points(n);
  std::vector<double> reference(kShells);
  int at_an_edge = 0;  // bodies that rounding may move to the next shell
  for (int i = 0; i < n; ++i) {
    points[i] = float4{bodies[i].x, bodies[i].y, bodies[i].z, bodies[i].mass};
    const double x = bodies[i].x, y = bodies[i].y, z = bodies[i].z;
    const double shell = (x * x + y * y + z * z) * kShells;
    at_an_edge += std::abs(shell - std::round(shell)) < 1e-6 * shell;
    reference[std::min(static_cast<int>(shell), kShells - 1)] += 1;
  }

  int multiprocessors = 0;
  CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  const int blocks = std::min((n - 1) / kBlockSize + 1, 8 * multiprocessors);
  float4* device_bodies = nullptr;
  unsigned* device_counts = nullptr;
  CHECK(cudaMalloc(&device_bodies, n * sizeof(float4)));
  CHECK(cudaMalloc(&device_counts, kShells * sizeof(unsigned)));
  CHECK(cudaMemcpy(device_bodies, points.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(device_counts, 0, kShells * sizeof(unsigned)));
  count_bodies<<<blocks, kBlockSize>>>(device_bodies, n, device_counts);
  CHECK(cudaGetLastError());
  std::vector<unsigned> counts(kShells);
  CHECK(
      cudaMemcpy(counts.data(), device_counts, kShells * sizeof(unsigned), cudaMemcpyDeviceToHost));
  const double time = memory::seconds(
      run.repeat, [&] { count_bodies<<<blocks, kBlockSize>>>(device_bodies, n, device_counts); });
  CHECK(cudaFree(device_bodies));
  CHECK(cudaFree(device_counts));

  double error = 0;
  for (int shell = 0; shell < kShells; ++shell) error += std::abs(counts[shell] - reference[shell]);
  return memory::report("memory07_atomics", run, 16.0 * n, time, error, 2 * at_an_edge);
}
