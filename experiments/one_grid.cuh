// The code that most experiments share: one grid for all systems, two kernels per time step,
// positions of four floats, and fast math. An experiment's own file contains only the idea that it
// tests: the kernel that kicks the bodies.
#pragma once

#include "nbody/step.h"
#include "nbody/timeline.h"
#include "nbody/transfer.h"

namespace one_grid {

using Position = float4;  // w is the mass
using Velocity = float4;  // w is 0

// Returns how many blocks of this size are needed to give each body a thread.
__host__ __device__ constexpr int blocks_for(int bodies, int block) {
  return (bodies - 1) / block + 1;
}

// Returns massless bodies past the end, so that every tile is full and N may be any number.
__device__ inline Position load(const Position* __restrict__ positions, int j, int n) {
  return j < n ? __ldg(&positions[j]) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

// Adds the acceleration that a source causes to the sum of a body.
__device__ inline void interact(Position source, Position body, float3& a,
                                float softening_squared) {
  const float dx = source.x - body.x;
  const float dy = source.y - body.y;
  const float dz = source.z - body.z;
  const float distance_squared = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening_squared)));
  const float inverse_distance = rsqrtf(distance_squared);
  const float s = source.w * inverse_distance * inverse_distance * inverse_distance;
  a.x = fmaf(s, dx, a.x);
  a.y = fmaf(s, dy, a.y);
  a.z = fmaf(s, dz, a.z);
}

__device__ inline void add(float3& sum, float3 term) {
  sum.x += term.x;
  sum.y += term.y;
  sum.z += term.z;
}

// Kick: v += a dt.
__device__ inline void kick(Velocity& velocity, float3 a, float dt) {
  velocity.x += a.x * dt;
  velocity.y += a.y * dt;
  velocity.z += a.z * dt;
}

// Drift: x_i += v_i dt. Drifting is a separate kernel, because no body may drift before all forces
// of the step have used its position, and kernels in a stream run one after the other.
[[maybe_unused]] static __global__ void update_positions(Position* __restrict__ positions,
                                                         const Velocity* __restrict__ velocities,
                                                         int n, float dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  positions[i].x += velocities[i].x * dt;
  positions[i].y += velocities[i].y * dt;
  positions[i].z += velocities[i].z * dt;
}

// Computes all time steps. kick_all(positions, velocities) launches the kick of all bodies.
template <class KickAll>
nbody::Timing advance(const nbody::Run& run, nbody::Systems& systems, const KickAll& kick_all) {
  const int bodies = static_cast<int>(systems.bodies.size());
  nbody::DeviceArray<Position> positions(systems.bodies.size());
  nbody::DeviceArray<Velocity> velocities(systems.bodies.size());
  const nbody::Transfer transfer(systems.bodies);
  nbody::StageTimer timer;
  transfer.upload(positions.get(), velocities.get());
  timer.uploaded();
  for (int step = 0; step < run.steps; ++step) {
    kick_all(positions.get(), velocities.get());
    update_positions<<<blocks_for(bodies, 256), 256>>>(positions.get(), velocities.get(), bodies,
                                                       run.dt);
  }
  CUDA_CHECK(cudaGetLastError());  // a launch returns no error; a bad configuration shows here
  timer.computed();
  transfer.download(positions.get(), velocities.get());
  timer.downloaded();
  return timer.timing();
}

}  // namespace one_grid
