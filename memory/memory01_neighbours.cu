// memory01_neighbours -- neighbouring threads take neighbouring bodies: fewer sectors per request.
// Parent: memory00_runs. Changed: which body a thread takes, and so the number of threads.
// Build: nvcc -O3 -std=c++20 -arch=native memory/memory01_neighbours.cu -o memory01_neighbours
// Without a GPU: ./nbody build memory01_neighbours, or hostcuda/bin/nvcc instead of nvcc
#include "program.h"

using memory::Body;

constexpr int kBlockSize = 256;

__global__ void drift(Body* bodies, int n, float dt) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n) return;
  bodies[i].x += bodies[i].vx * dt;
  bodies[i].y += bodies[i].vy * dt;
  bodies[i].z += bodies[i].vz * dt;
}

int main(int argc, char** argv) {
  const memory::Options run = memory::options(argc, argv);
  const int n = run.systems * run.bodies;
  const float dt = 0.01f;
  const std::vector<Body> before = memory::bodies(n);
  const std::size_t bytes = n * sizeof(Body);

  Body* bodies = nullptr;
  CHECK(cudaMalloc(&bodies, bytes));
  CHECK(cudaMemcpy(bodies, before.data(), bytes, cudaMemcpyHostToDevice));
  drift<<<(n - 1) / kBlockSize + 1, kBlockSize>>>(bodies, n, dt);
  CHECK(cudaGetLastError());
  std::vector<Body> after(n);
  CHECK(cudaMemcpy(after.data(), bodies, bytes, cudaMemcpyDeviceToHost));
  const double time = memory::seconds(
      run.repeat, [&] { drift<<<(n - 1) / kBlockSize + 1, kBlockSize>>>(bodies, n, dt); });
  CHECK(cudaFree(bodies));

  memory::WorstError error;
  for (int i = 0; i < n; ++i) {
    const Body &b = before[i], &a = after[i];
    const double step = dt;
    error.add(a.x, b.x + b.vx * step, std::abs(b.x) + std::abs(b.vx) * step);
    error.add(a.y, b.y + b.vy * step, std::abs(b.y) + std::abs(b.vy) * step);
    error.add(a.z, b.z + b.vz * step, std::abs(b.z) + std::abs(b.vz) * step);
    error.add(a.vx, b.vx, 0);
    error.add(a.vy, b.vy, 0);
    error.add(a.vz, b.vz, 0);
    error.add(a.mass, b.mass, 0);
  }
  return memory::report("memory01_neighbours", run, 36.0 * n, time, error.worst, 1);
}
