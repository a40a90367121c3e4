// simple_pairwise -- one thread per body, several blocks, no tiles: two kernels per time step.
//
// Most first GPU programs look like this, as do programs in three of the five reports. Every thread
// reads every body from device memory, so the speed depends on the caches.
//
// Parent: step01_gpu_naive.   Run: simple_pairwise --scenario plummer --bodies 65536
#include "nbody/step.h"
#include "nbody/timeline.h"

namespace {

using nbody::Body;

constexpr int kBlockSize = TUNABLE(BLOCK_SIZE, 256);
constexpr bool kRsqrt = TUNABLE(RSQRT, 1);  // false: divides by a square root

// Returns how many blocks are needed to give each body a thread.
constexpr int blocks_for(int bodies) { return (bodies - 1) / kBlockSize + 1; }

// Kick: v_i += a_i dt. Reads positions only, so bodies may be updated in any order.
__global__ void update_velocities(Body* all_bodies, int n, int all, float dt,
                                  float softening_squared) {
  const int of_all = blockIdx.x * kBlockSize + threadIdx.x;
  if (of_all >= all) return;
  Body* const bodies = all_bodies + static_cast<size_t>(of_all / n) * n;
  const int i = of_all % n;
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int j = 0; j < n; ++j) {
    const float dx = bodies[j].x - bodies[i].x;
    const float dy = bodies[j].y - bodies[i].y;
    const float dz = bodies[j].z - bodies[i].z;
    const float distance_squared = dx * dx + dy * dy + dz * dz + softening_squared;
    const float inverse_distance =
        kRsqrt ? rsqrtf(distance_squared) : 1.0f / sqrtf(distance_squared);
    const float s = bodies[j].mass * inverse_distance * inverse_distance * inverse_distance;
    ax += s * dx;
    ay += s * dy;
    az += s * dz;
  }
  bodies[i].vx += ax * dt;
  bodies[i].vy += ay * dt;
  bodies[i].vz += az * dt;
}

// Drift: x_i += v_i dt. Drifting is a separate kernel, because no body may drift before all forces
// of the step have used its position, and kernels in a stream run one after the other.
__global__ void update_positions(Body* bodies, int all, float dt) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= all) return;
  bodies[i].x += bodies[i].vx * dt;
  bodies[i].y += bodies[i].vy * dt;
  bodies[i].z += bodies[i].vz * dt;
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int all = static_cast<int>(systems.bodies.size());
  const nbody::DeviceArray<Body> bodies(systems.bodies.size());
  nbody::StageTimer timer;
  nbody::upload(systems.bodies, bodies);
  timer.uploaded();
  for (int step = 0; step < run.steps; ++step) {
    update_velocities<<<blocks_for(all), kBlockSize>>>(bodies.get(), systems.bodies_per_system, all,
                                                       run.dt, run.softening_squared);
    update_positions<<<blocks_for(all), kBlockSize>>>(bodies.get(), all, run.dt);
  }
  CUDA_CHECK(cudaGetLastError());  // a launch returns no error; a bad configuration shows here
  timer.computed();
  nbody::download(bodies, systems.bodies);
  timer.downloaded();
  return timer.timing();
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main(
      {.name = "simple_pairwise", .parent = "step01_gpu_naive", .boundaries = {kBlockSize}},
      simulate, argc, argv);
}
