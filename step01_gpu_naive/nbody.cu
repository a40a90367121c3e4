// step01_gpu_naive -- the same loops on a GPU: one block per system; its threads share the bodies.
//
// The time loop runs inside the kernel, so that the bodies cross the bus once in each direction. A
// block has 1024 threads; with more bodies than that, each thread takes every 1024th body.
//
// Parent: step00_cpu_omp.   Run: step01_gpu_naive --systems 32 --bodies 8192 --steps 20
#include <cmath>

#include "nbody/step.h"
#include "nbody/timeline.h"

namespace {

using nbody::Body;

constexpr int kBlockSize = 1024;  // the maximum on every GPU

// Kick: v_i += a_i dt. Reads positions only, so bodies may be updated in any order.
__device__ void update_velocity(Body* bodies, int i, int n, float dt, float softening_squared) {
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int j = 0; j < n; ++j) {
    const float dx = bodies[j].x - bodies[i].x;
    const float dy = bodies[j].y - bodies[i].y;
    const float dz = bodies[j].z - bodies[i].z;
    const float distance_squared = dx * dx + dy * dy + dz * dz + softening_squared;
    const float inverse_distance = 1.0f / sqrtf(distance_squared);
    const float s = bodies[j].mass * inverse_distance * inverse_distance * inverse_distance;
    ax += s * dx;
    ay += s * dy;
    az += s * dz;
  }
  bodies[i].vx += ax * dt;
  bodies[i].vy += ay * dt;
  bodies[i].vz += az * dt;
}

// Drift: x_i += v_i dt.
__device__ void update_position(Body* bodies, int i, float dt) {
  bodies[i].x += bodies[i].vx * dt;
  bodies[i].y += bodies[i].vy * dt;
  bodies[i].z += bodies[i].vz * dt;
}

// One block per system, because a barrier synchronises one block only and systems are independent.
__global__ void __launch_bounds__(kBlockSize)
    advance_systems(Body* all_bodies, int n, int steps, float dt, float softening_squared) {
  Body* const bodies = all_bodies + static_cast<size_t>(blockIdx.x) * n;
  for (int step = 0; step < steps; ++step) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      update_velocity(bodies, i, n, dt, softening_squared);
    }
    __syncthreads();  // no body may drift before every force of this step has read its position
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      update_position(bodies, i, dt);
    }
    __syncthreads();  // the next step must not read a position that has yet to drift
  }
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  std::vector<Body>& host = systems.bodies;
  nbody::DeviceArray<Body> bodies(host.size());
  nbody::StageTimer timer;
  CUDA_CHECK(cudaMemcpy(bodies.get(), host.data(), bodies.bytes(), cudaMemcpyHostToDevice));
  timer.uploaded();
  advance_systems<<<systems.count, kBlockSize>>>(bodies.get(), systems.bodies_per_system, run.steps,
                                                 run.dt, run.softening_squared);
  CUDA_CHECK(cudaGetLastError());  // a launch returns nothing: a bad configuration shows here
  timer.computed();
  CUDA_CHECK(cudaMemcpy(host.data(), bodies.get(), bodies.bytes(), cudaMemcpyDeviceToHost));
  timer.downloaded();
  return timer.timing();
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main(
      {.name = "step01_gpu_naive", .parent = "step00_cpu_omp", .boundaries = {kBlockSize}},
      simulate, argc, argv);
}
