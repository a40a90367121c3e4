// course_program -- a typical first CUDA program: two kernels per time step, one thread per body.
//
// The host waits after each kernel, as in the course's program. With 4096 bodies, these 20 waits
// are a noticeable part of the time.
#include "course_program.h"
#include "nbody/cuda.h"

namespace course {
namespace {

constexpr int kBlockSize = 256;

__global__ void add_forces(Body* bodies, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int j = 0; j < n; ++j) {
    const float dx = bodies[j].x - bodies[i].x;
    const float dy = bodies[j].y - bodies[i].y;
    const float dz = bodies[j].z - bodies[i].z;
    const float inverse_distance = rsqrtf(dx * dx + dy * dy + dz * dz + kSofteningSquared);
    const float cubed = inverse_distance * inverse_distance * inverse_distance;
    ax += dx * cubed;
    ay += dy * cubed;
    az += dz * cubed;
  }
  bodies[i].vx += kTimeStep * ax;
  bodies[i].vy += kTimeStep * ay;
  bodies[i].vz += kTimeStep * az;
}

__global__ void move(Body* bodies, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  bodies[i].x += bodies[i].vx * kTimeStep;
  bodies[i].y += bodies[i].vy * kTimeStep;
  bodies[i].z += bodies[i].vz * kTimeStep;
}

}  // namespace

double simulate(std::vector<Body>& host, int steps) {
  const int n = static_cast<int>(host.size()), blocks = (n - 1) / kBlockSize + 1;
  const auto bodies = nbody::uploaded(host);
  const nbody::Stopwatch stopwatch;
  for (int step = 0; step < steps; ++step) {
    add_forces<<<blocks, kBlockSize>>>(bodies.get(), n);
    CUDA_CHECK(cudaDeviceSynchronize());
    move<<<blocks, kBlockSize>>>(bodies.get(), n);
    CUDA_CHECK(cudaDeviceSynchronize());
  }
  const double seconds = stopwatch.seconds();
  nbody::download(bodies, host);
  return seconds;
}

nbody::Platform platform() {
  nbody::FoundDevice device = nbody::query_device();
  device.flags = NBODY_FLAGS;  // this file's flags; those of query_device() may differ
  return nbody::platform_of(device);
}

}  // namespace course
