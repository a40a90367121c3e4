// occupancy_block_size -- the block size that the occupancy API suggests.
//
// The API knows the kernel's registers, its shared memory and the limits of an SM, and returns the
// block size with the most resident threads. The API does not know the number of bodies, so large
// blocks may leave SMs without work.
//
// Parent: step09_soa.   Run: occupancy_block_size --systems 32 --bodies 8192 --steps 20
#include "experiments/one_grid.cuh"

namespace {

using one_grid::Position;
using one_grid::Velocity;

constexpr int kBlockSize = TUNABLE(BLOCK_SIZE, 0);  // 0: the size that the API suggests

// Kick: v_i += a_i dt. A tile has as many bodies as the block has threads.
__global__ void update_velocities(const Position* __restrict__ all_positions,
                                  Velocity* all_velocities, int n, float dt,
                                  float softening_squared) {
  extern __shared__ Position tile[];
  const int size = blockDim.x, blocks = one_grid::blocks_for(n, size);
  const size_t first_body = static_cast<size_t>(blockIdx.x / blocks) * n;
  const int i = blockIdx.x % blocks * size + threadIdx.x;
  const Position* const positions = all_positions + first_body;
  const Position body = one_grid::load(positions, i, n);
  float3 a = {};
  for (int first = 0; first < n; first += size) {
    tile[threadIdx.x] = one_grid::load(positions, first + threadIdx.x, n);
    __syncthreads();  // no thread may read the tile before it is complete
    float3 tile_a = {};
#pragma unroll 8
    for (int j = 0; j < min(size, n - first); ++j) {
      one_grid::interact(tile[j], body, tile_a, softening_squared);
    }
    one_grid::add(a, tile_a);
    __syncthreads();  // no thread may overwrite the tile before all have read it
  }
  if (i < n) one_grid::kick(all_velocities[first_body + i], a, dt);
}

size_t tile_bytes(int block) { return block * sizeof(Position); }

// Returns the block size with the most resident threads, or the largest if there are several.
// cudaOccupancyMaxPotentialBlockSizeVariableSMem chooses in the same way.
int suggested_block() {
  int best = 0, most = 0;
  for (int block = 1024; block >= 32; block -= 32) {
    int resident = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, update_velocities, block,
                                                             tile_bytes(block)));
    if (resident * block > most) {
      most = resident * block;
      best = block;
    }
  }
  return best;
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int n = systems.bodies_per_system;
  const int block = kBlockSize > 0 ? kBlockSize : suggested_block();
  const int blocks = systems.count * one_grid::blocks_for(n, block);
  return one_grid::advance(run, systems, [&](const Position* positions, Velocity* velocities) {
    update_velocities<<<blocks, block, tile_bytes(block)>>>(positions, velocities, n, run.dt,
                                                            run.softening_squared);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "occupancy_block_size",
                           .parent = "step09_soa",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {256, 1024}},
                          simulate, argc, argv);
}
