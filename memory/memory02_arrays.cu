// memory02_arrays -- structure of arrays: every byte that a warp fetches is used.
// Parent: memory01_neighbours. Changed: each coordinate has its own array; the mass is not copied.
// Build: nvcc -O3 -std=c++20 -arch=native memory/memory02_arrays.cu -o memory02_arrays
// Without a GPU: ./nbody build memory02_arrays, or hostcuda/bin/nvcc instead of nvcc
#include "program.h"

using memory::Body;

constexpr int kBlockSize = 256;

struct Arrays {
  float *x, *y, *z, *vx, *vy, *vz;
};

__global__ void drift(Arrays bodies, int n, float dt) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n) return;
  bodies.x[i] += bodies.vx[i] * dt;
  bodies.y[i] += bodies.vy[i] * dt;
  bodies.z[i] += bodies.vz[i] * dt;
}

// Copies one member of all bodies to an array in device memory.
float* upload(const std::vector<Body>& bodies, float Body::*member) {
  std::vector<float> values(bodies.size());
  for (std::size_t i = 0; i < bodies.size(); ++i) values[i] = bodies[i].*member;
  float* array = nullptr;
  CHECK(cudaMalloc(&array, values.size() * sizeof(float)));
  CHECK(cudaMemcpy(array, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
  return array;
}

void download(std::vector<Body>& bodies, float Body::*member, const float* array) {
  std::vector<float> values(bodies.size());
  CHECK(cudaMemcpy(values.data(), array, values.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < bodies.size(); ++i) bodies[i].*member = values[i];
}

int main(int argc, char** argv) {
  const memory::Options run = memory::options(argc, argv);
  const int n = run.systems * run.bodies;
  const float dt = 0.01f;
  const std::vector<Body> before = memory::bodies(n);

  const Arrays bodies{upload(before, &Body::x),  upload(before, &Body::y),
                      upload(before, &Body::z),  upload(before, &Body::vx),
                      upload(before, &Body::vy), upload(before, &Body::vz)};
  drift<<<(n - 1) / kBlockSize + 1, kBlockSize>>>(bodies, n, dt);
  CHECK(cudaGetLastError());
  std::vector<Body> after = before;
  download(after, &Body::x, bodies.x);
  download(after, &Body::y, bodies.y);
  download(after, &Body::z, bodies.z);
  download(after, &Body::vx, bodies.vx);
  download(after, &Body::vy, bodies.vy);
  download(after, &Body::vz, bodies.vz);
  const double time = memory::seconds(
      run.repeat, [&] { drift<<<(n - 1) / kBlockSize + 1, kBlockSize>>>(bodies, n, dt); });
  for (float* array : {bodies.x, bodies.y, bodies.z, bodies.vx, bodies.vy, bodies.vz}) {
    CHECK(cudaFree(array));
  }

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
  return memory::report("memory02_arrays", run, 36.0 * n, time, error.worst, 1);
}
