// straggler -- one thread of every block is slow. Who waits for it?
//
// The straggler computes every tile kTimes times and keeps the last result. A warp takes as long as
// its slowest thread. If a barrier follows each tile, all warps of the block wait for the slow
// warp; without barriers they continue.
//
// Parent: step09_soa.   Run: straggler --scenario plummer --bodies 65536
#include "experiments/one_grid.cuh"

namespace {

using one_grid::Position;
using one_grid::Velocity;

constexpr int kTileSize = TUNABLE(TILE_SIZE, 256);
constexpr bool kBarriers = TUNABLE(BARRIERS, 1);  // true: tiles in shared memory, not global
constexpr int kTimes = TUNABLE(TIMES, 2);         // 1 means no straggler

// Makes the compiler forget what it knows about memory. Otherwise it would merge the repeated
// loops.
__device__ inline void forget() { asm volatile("" ::: "memory"); }

// Kick: v_i += a_i dt. Reads positions only, so bodies may be updated in any order.
__global__ void __launch_bounds__(kTileSize)
    update_velocities(const Position* all_positions, Velocity* all_velocities, int n, float dt,
                      float softening_squared) {
  __shared__ Position tile[kBarriers ? kTileSize : 1];
  const int blocks = one_grid::blocks_for(n, kTileSize);
  const size_t first_body = static_cast<size_t>(blockIdx.x / blocks) * n;
  const int i = blockIdx.x % blocks * kTileSize + threadIdx.x;
  const Position* const positions = all_positions + first_body;
  const Position body = one_grid::load(positions, i, n);
  const int times = threadIdx.x == 0 ? kTimes : 1;
  float3 a = {};
  for (int first = 0; first < n; first += kTileSize) {
    if constexpr (kBarriers) {
      tile[threadIdx.x] = one_grid::load(positions, first + threadIdx.x, n);
      __syncthreads();  // no thread may read the tile before it is complete
    }
    float3 tile_a = {};
    for (int time = 0; time < times; ++time) {
      tile_a = {};
      forget();
#pragma unroll 8
      for (int k = 0; k < kTileSize; ++k) {
        const Position source = kBarriers ? tile[k] : one_grid::load(positions, first + k, n);
        one_grid::interact(source, body, tile_a, softening_squared);
      }
    }
    one_grid::add(a, tile_a);
    if constexpr (kBarriers) __syncthreads();  // all have read the tile before it is overwritten
  }
  if (i < n) one_grid::kick(all_velocities[first_body + i], a, dt);
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int n = systems.bodies_per_system;
  const int blocks = systems.count * one_grid::blocks_for(n, kTileSize);
  return one_grid::advance(run, systems, [&](const Position* positions, Velocity* velocities) {
    update_velocities<<<blocks, kTileSize>>>(positions, velocities, n, run.dt,
                                             run.softening_squared);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "straggler",
                           .parent = "step09_soa",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {kTileSize}},
                          simulate, argc, argv);
}
