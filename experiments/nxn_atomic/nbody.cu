// nxn_atomic -- a thread per pair of bodies, whose forces are added up by atomic additions.
//
// N^2 threads fill any GPU, even with few bodies. But the N terms of a body's sum all go to the
// same three numbers, one after the other, in whatever order the threads come.
//
// Parent: step09_soa.   Run: nxn_atomic --scenario plummer --bodies 4096
#include "experiments/one_grid.cuh"

namespace {

using one_grid::Position;
using one_grid::Velocity;

constexpr int kColumns = 32, kRows = 8;  // of a block of pairs

// Kick of body i by body j alone: dt is part of the term, since the sum is the velocity itself.
__global__ void __launch_bounds__(kColumns* kRows)
    update_velocities(const Position* __restrict__ all_positions, Velocity* all_velocities, int n,
                      float dt, float softening_squared) {
  const size_t first = static_cast<size_t>(blockIdx.z) * n;
  const int j = blockIdx.x * kColumns + threadIdx.x, i = blockIdx.y * kRows + threadIdx.y;
  if (i >= n || j >= n) return;
  float3 a = {};
  one_grid::interact(all_positions[first + j], all_positions[first + i], a, softening_squared);
  Velocity& velocity = all_velocities[first + i];
  atomicAdd(&velocity.x, a.x * dt);
  atomicAdd(&velocity.y, a.y * dt);
  atomicAdd(&velocity.z, a.z * dt);
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int n = systems.bodies_per_system;
  const dim3 grid(one_grid::blocks_for(n, kColumns), one_grid::blocks_for(n, kRows), systems.count);
  return one_grid::advance(run, systems, [&](const Position* positions, Velocity* velocities) {
    update_velocities<<<grid, dim3(kColumns, kRows)>>>(positions, velocities, n, run.dt,
                                                       run.softening_squared);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main(
      {.name = "nxn_atomic", .parent = "step09_soa", .boundaries = {kRows, kColumns}}, simulate,
      argc, argv);
}
