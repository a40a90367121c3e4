// memory08_per_block -- the same counts: each block has its own counters in shared memory.
// Parent: memory07_atomics. Changed: the kernel; a block adds its 256 counts to the totals once.
// Build: nvcc -O3 -std=c++20 -arch=native memory/memory08_per_block.cu -o memory08_per_block
// Without a GPU: ./nbody build memory08_per_block, or hostcuda/bin/nvcc instead of nvcc
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
  __shared__ unsigned own[kShells];
  for (int k = threadIdx.x; k < kShells; k += kBlockSize) own[k] = 0;
  __syncthreads();  // no thread may count before all counters are zero
  for (int i = blockIdx.x * kBlockSize + threadIdx.x; i < n; i += gridDim.x * kBlockSize) {
    atomicAdd(&own[shell_of(bodies[i])], 1u);
  }
  __syncthreads();  // all bodies of the block are counted
  for (int k = threadIdx.x; k < kShells; k += kBlockSize) {
    if (own[k] > 0) atomicAdd(&counts[k], own[k]);
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
  return memory::report("memory08_per_block", run, 16.0 * n, time, error, 2 * at_an_edge);
}
