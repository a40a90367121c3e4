// constant_memory -- N, the time step and the softening are in constant memory instead of the
// kernel's arguments.
//
// A kernel's arguments are in constant memory already, though in another bank. The variant
// therefore saves nothing and adds a copy before the first launch.
//
// Parent: step09_soa.   Run: constant_memory --systems 32 --bodies 8192 --steps 20
#include "experiments/one_grid.cuh"

namespace {

using one_grid::Position;
using one_grid::Velocity;

constexpr bool kInConstantMemory = TUNABLE(IN_CONSTANT_MEMORY, 1);
constexpr int kTileSize = 256;

struct Numbers {
  int n;
  float dt, softening_squared;
};
__constant__ Numbers constant_numbers;

// Kick: v_i += a_i dt. Reads positions only, so bodies may be updated in any order.
__global__ void __launch_bounds__(kTileSize)
    update_velocities(const Position* __restrict__ all_positions, Velocity* all_velocities,
                      Numbers argument) {
  __shared__ Position tile[kTileSize];
  const Numbers& numbers = kInConstantMemory ? constant_numbers : argument;
  const int n = numbers.n, blocks = one_grid::blocks_for(n, kTileSize);
  const size_t first_body = static_cast<size_t>(blockIdx.x / blocks) * n;
  const int i = blockIdx.x % blocks * kTileSize + threadIdx.x;
  const Position* const positions = all_positions + first_body;
  const Position body = one_grid::load(positions, i, n);
  float3 a = {};
  for (int first = 0; first < n; first += kTileSize) {
    tile[threadIdx.x] = one_grid::load(positions, first + threadIdx.x, n);
    __syncthreads();  // no thread may read the tile before it is complete
    float3 tile_a = {};
#pragma unroll 8
    for (int j = 0; j < kTileSize; ++j) {
      one_grid::interact(tile[j], body, tile_a, numbers.softening_squared);
    }
    one_grid::add(a, tile_a);
    __syncthreads();  // no thread may overwrite the tile before all have read it
  }
  if (i < n) one_grid::kick(all_velocities[first_body + i], a, numbers.dt);
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const Numbers numbers{systems.bodies_per_system, run.dt, run.softening_squared};
  const int blocks = systems.count * one_grid::blocks_for(numbers.n, kTileSize);
  CUDA_CHECK(cudaMemcpyToSymbol(constant_numbers, &numbers, sizeof numbers));
  return one_grid::advance(run, systems, [&](const Position* positions, Velocity* velocities) {
    update_velocities<<<blocks, kTileSize>>>(positions, velocities, numbers);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "constant_memory",
                           .parent = "step09_soa",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {kTileSize}},
                          simulate, argc, argv);
}
