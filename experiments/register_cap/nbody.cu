// register_cap -- fewer registers per thread, so that more warps are resident.
//
// __launch_bounds__(threads, blocks) makes the compiler use so few registers that `blocks` blocks
// fit into an SM, which has 65,536 registers. Values that do not fit move to local memory. More
// resident warps hide more latency. But independent interactions within a thread also hide latency,
// and they need registers.
//
// Parent: step11_register_blocking.   Run: register_cap --scenario plummer --bodies 262144
#include "experiments/one_grid.cuh"

namespace {

using one_grid::Position;
using one_grid::Velocity;

constexpr int kResident = TUNABLE(RESIDENT, 1);  // minimum number of blocks per SM
constexpr int kBodies = TUNABLE(BODIES, 4);      // bodies per thread
constexpr int kTileSize = 256;

// Kick: v_i += a_i dt. Reads positions only, so bodies may be updated in any order.
__global__ void __launch_bounds__(kTileSize, kResident)
    update_velocities(const Position* __restrict__ all_positions, Velocity* all_velocities, int n,
                      float dt, float softening_squared) {
  __shared__ Position tile[kTileSize];
  const int blocks = one_grid::blocks_for(n, kTileSize * kBodies);
  const size_t first_body = static_cast<size_t>(blockIdx.x / blocks) * n;
  const int first_i = blockIdx.x % blocks * kTileSize * kBodies + threadIdx.x;
  const Position* const positions = all_positions + first_body;
  Position body[kBodies];
  float3 a[kBodies] = {};
  for (int k = 0; k < kBodies; ++k) {
    body[k] = one_grid::load(positions, first_i + k * kTileSize, n);
  }
  for (int first = 0; first < n; first += kTileSize) {
    tile[threadIdx.x] = one_grid::load(positions, first + threadIdx.x, n);
    __syncthreads();  // no thread may read the tile before it is complete
    float3 tile_a[kBodies] = {};
#pragma unroll 8
    for (int j = 0; j < kTileSize; ++j) {
      const Position source = tile[j];
      for (int k = 0; k < kBodies; ++k) {
        one_grid::interact(source, body[k], tile_a[k], softening_squared);
      }
    }
    for (int k = 0; k < kBodies; ++k) one_grid::add(a[k], tile_a[k]);
    __syncthreads();  // no thread may overwrite the tile before all have read it
  }
  for (int k = 0; k < kBodies; ++k) {
    const int i = first_i + k * kTileSize;
    if (i < n) one_grid::kick(all_velocities[first_body + i], a[k], dt);
  }
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int n = systems.bodies_per_system;
  const int blocks = systems.count * one_grid::blocks_for(n, kTileSize * kBodies);
  return one_grid::advance(run, systems, [&](const Position* positions, Velocity* velocities) {
    update_velocities<<<blocks, kTileSize>>>(positions, velocities, n, run.dt,
                                             run.softening_squared);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "register_cap",
                           .parent = "step11_register_blocking",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {kTileSize, kTileSize * kBodies}},
                          simulate, argc, argv);
}
