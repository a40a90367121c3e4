// threads_per_body -- several threads of a block share the sum for one body.
//
// This is the kernel of GPU Gems 3, chapter 31. The kernel has tiles of p x p interactions and, if
// one thread per body would not fill the GPU, q threads per body. Each of the q threads sums over a
// different part of the sources. The sums of the q threads are added through shared memory.
//
// Parent: step09_soa.   Run: threads_per_body --scenario plummer --bodies 1024
#include "experiments/one_grid.cuh"

namespace {

using one_grid::Position;
using one_grid::Velocity;

constexpr int kBodies = TUNABLE(BODIES, 128);  // bodies of a block: p
constexpr int kThreads = TUNABLE(THREADS, 2);  // threads per body: q
constexpr int kUnroll = TUNABLE(UNROLL, 4);
constexpr int kTileSize = kBodies * kThreads;  // each thread loads one body of every tile

// Kick: v_i += a_i dt. Reads positions only, so bodies may be updated in any order.
__global__ void __launch_bounds__(kTileSize)
    update_velocities(const Position* __restrict__ all_positions, Velocity* all_velocities, int n,
                      float dt, float softening_squared) {
  __shared__ Position tile[kThreads][kBodies];
  const int blocks = one_grid::blocks_for(n, kBodies);
  const size_t first_body = static_cast<size_t>(blockIdx.x / blocks) * n;
  const int i = blockIdx.x % blocks * kBodies + threadIdx.x;
  const Position* const positions = all_positions + first_body;
  const Position body = one_grid::load(positions, i, n);
  float3 a = {};
  for (int first = 0; first < n; first += kTileSize) {
    const int j = first + threadIdx.y * kBodies + threadIdx.x;
    tile[threadIdx.y][threadIdx.x] = one_grid::load(positions, j, n);
    __syncthreads();  // no thread may read the tile before it is complete
    float3 tile_a = {};
#pragma unroll kUnroll
    for (int k = 0; k < kBodies; ++k) {
      one_grid::interact(tile[threadIdx.y][k], body, tile_a, softening_squared);
    }
    one_grid::add(a, tile_a);
    __syncthreads();  // no thread may overwrite the tile before all have read it
  }
  tile[threadIdx.y][threadIdx.x] = make_float4(a.x, a.y, a.z, 0.0f);
  __syncthreads();  // no sum may be read before it is written
  if (threadIdx.y > 0 || i >= n) return;
  for (int y = 1; y < kThreads; ++y) {
    const float4 part = tile[y][threadIdx.x];
    one_grid::add(a, make_float3(part.x, part.y, part.z));
  }
  one_grid::kick(all_velocities[first_body + i], a, dt);
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int n = systems.bodies_per_system;
  const int blocks = systems.count * one_grid::blocks_for(n, kBodies);
  return one_grid::advance(run, systems, [&](const Position* positions, Velocity* velocities) {
    update_velocities<<<blocks, dim3(kBodies, kThreads)>>>(positions, velocities, n, run.dt,
                                                           run.softening_squared);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "threads_per_body",
                           .parent = "step09_soa",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {kBodies, kTileSize}},
                          simulate, argc, argv);
}
