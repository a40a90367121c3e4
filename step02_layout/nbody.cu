// step02_layout -- positions and velocities in separate arrays, the thread's own body in registers.
//
// A force needs the position and the mass of every body, but no velocity. With the velocities in a
// separate array, the loop over j reads through 16 bytes per body instead of 28.
//
// Parent: step01_gpu_naive.   Run: step02_layout --systems 32 --bodies 8192 --steps 20
#include <cmath>

#include "nbody/step.h"
#include "nbody/timeline.h"

namespace {

constexpr int kBlockSize = 1024;  // the maximum on every GPU

struct Position {
  float x, y, z, mass;
};
struct Velocity {
  float x, y, z;
};

// Kick: v_i += a_i dt. Reads positions only, so bodies may be updated in any order.
__device__ void update_velocity(const Position* positions, Velocity* velocities, int i, int n,
                                float dt, float softening_squared) {
  const Position body = positions[i];
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int j = 0; j < n; ++j) {
    const float dx = positions[j].x - body.x;
    const float dy = positions[j].y - body.y;
    const float dz = positions[j].z - body.z;
    const float distance_squared = dx * dx + dy * dy + dz * dz + softening_squared;
    const float inverse_distance = 1.0f / sqrtf(distance_squared);
    const float s = positions[j].mass * inverse_distance * inverse_distance * inverse_distance;
    ax += s * dx;
    ay += s * dy;
    az += s * dz;
  }
  velocities[i].x += ax * dt;
  velocities[i].y += ay * dt;
  velocities[i].z += az * dt;
}

// Drift: x_i += v_i dt.
__device__ void update_position(Position* positions, const Velocity* velocities, int i, float dt) {
  positions[i].x += velocities[i].x * dt;
  positions[i].y += velocities[i].y * dt;
  positions[i].z += velocities[i].z * dt;
}

// One block per system, because a barrier synchronises one block only and systems are independent.
__global__ void __launch_bounds__(kBlockSize)
    advance_systems(Position* all_positions, Velocity* all_velocities, int n, int steps, float dt,
                    float softening_squared) {
  Position* const positions = all_positions + static_cast<size_t>(blockIdx.x) * n;
  Velocity* const velocities = all_velocities + static_cast<size_t>(blockIdx.x) * n;
  for (int step = 0; step < steps; ++step) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      update_velocity(positions, velocities, i, n, dt, softening_squared);
    }
    __syncthreads();  // no body may drift before every force of this step has read its position
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      update_position(positions, velocities, i, dt);
    }
    __syncthreads();  // the next step must not read a position that has yet to drift
  }
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  std::vector<Position> host_positions(systems.bodies.size());
  std::vector<Velocity> host_velocities(systems.bodies.size());
  nbody::unpack(systems.bodies, host_positions, host_velocities);
  nbody::DeviceArray<Position> positions(systems.bodies.size());
  nbody::DeviceArray<Velocity> velocities(systems.bodies.size());
  nbody::StageTimer timer;
  nbody::upload(host_positions, positions);
  nbody::upload(host_velocities, velocities);
  timer.uploaded();
  advance_systems<<<systems.count, kBlockSize>>>(positions.get(), velocities.get(),
                                                 systems.bodies_per_system, run.steps, run.dt,
                                                 run.softening_squared);
  CUDA_CHECK(cudaGetLastError());  // a launch returns nothing: a bad configuration shows here
  timer.computed();
  nbody::download(positions, host_positions);
  nbody::download(velocities, host_velocities);
  timer.downloaded();
  nbody::pack(host_positions, host_velocities, systems.bodies);
  return timer.timing();
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main(
      {.name = "step02_layout", .parent = "step01_gpu_naive", .boundaries = {kBlockSize}}, simulate,
      argc, argv);
}
