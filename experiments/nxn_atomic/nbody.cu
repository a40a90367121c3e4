// nxn_atomic -- one thread per pair of bodies; atomic additions sum up the forces.
//
// N^2 threads fill any GPU, even with few bodies. But all N terms of a body's sum are added to the
// same three numbers, one after the other, in whatever order the threads run.
//
// Parent: step09_soa.   Run: nxn_atomic --scenario plummer --bodies 4096
#include "experiments/one_grid.cuh"

namespace {

using one_grid::Position;
using one_grid::Velocity;

constexpr int kColumns = 32, kRows = 8;  // threads in a block of pairs
constexpr int kBlockSize = kColumns * kRows;

// Computes the acceleration that body j causes on body i, and adds it to the sum for i.
__global__ void __launch_bounds__(kBlockSize)
    add_forces(const Position* __restrict__ all_positions, float3* all_sums, int n,
               float softening_squared) {
  const size_t first = static_cast<size_t>(blockIdx.z) * n;
  const int j = blockIdx.x * kColumns + threadIdx.x, i = blockIdx.y * kRows + threadIdx.y;
  if (i >= n || j >= n) return;
  float3 a = {};
  one_grid::interact(all_positions[first + j], all_positions[first + i], a, softening_squared);
  float3& sum = all_sums[first + i];
  atomicAdd(&sum.x, a.x);
  atomicAdd(&sum.y, a.y);
  atomicAdd(&sum.z, a.z);
}

// Kicks with complete sums. Adding each term to the velocity would increase rounding errors.
__global__ void update_velocities(Velocity* velocities, float3* sums, int bodies, float dt) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= bodies) return;
  one_grid::kick(velocities[i], sums[i], dt);
  sums[i] = {};  // clears the sum for the next time step
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int n = systems.bodies_per_system, bodies = static_cast<int>(systems.bodies.size());
  const dim3 grid(one_grid::blocks_for(n, kColumns), one_grid::blocks_for(n, kRows), systems.count);
  const auto sums = nbody::uploaded(std::vector<float3>(systems.bodies.size()));
  return one_grid::advance(run, systems, [&](const Position* positions, Velocity* velocities) {
    add_forces<<<grid, dim3(kColumns, kRows)>>>(positions, sums.get(), n, run.softening_squared);
    update_velocities<<<one_grid::blocks_for(bodies, kBlockSize), kBlockSize>>>(
        velocities, sums.get(), bodies, run.dt);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main(
      {.name = "nxn_atomic", .parent = "step09_soa", .boundaries = {kRows, kColumns}}, simulate,
      argc, argv);
}
