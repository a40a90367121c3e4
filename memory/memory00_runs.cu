// memory00_runs -- every body drifts: x += v dt. A thread takes a run of neighbouring bodies.
// Parent: none; this is how the cores of a CPU would share the work.
// Build: nvcc -O3 -std=c++20 -arch=native memory/memory00_runs.cu -o memory00_runs
// Without a GPU: ./nbody build memory00_runs, or hostcuda/bin/nvcc instead of nvcc
#include "program.h"

using memory::Body;

constexpr int kBlockSize = 256;
constexpr int kRun = 64;  // bodies of a thread

__global__ void drift(Body* bodies, int n, float dt) {
  const int first = (blockIdx.x * kBlockSize + threadIdx.x) * kRun;
  for (int i = first; i < min(first + kRun, n); ++i) {
    bodies[i].x += bodies[i].vx * dt;
    bodies[i].y += bodies[i].vy * dt;
    bodies[i].z += bodies[i].vz * dt;
  }
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
  drift<<<(n - 1) / (kBlockSize * kRun) + 1, kBlockSize>>>(bodies, n, dt);
  CHECK(cudaGetLastError());
  std::vector<Body> after(n);
  CHECK(cudaMemcpy(after.data(), bodies, bytes, cudaMemcpyDeviceToHost));
  const double time = memory::seconds(
      run.repeat, [&] { drift<<<(n - 1) / (kBlockSize * kRun) + 1, kBlockSize>>>(bodies, n, dt); });
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
  return memory::report("memory00_runs", run, 36.0 * n, time, error.worst, 1);
}
