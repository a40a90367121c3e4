// step04b_blocks -- several blocks per system: force and drift are separate kernels.
//
// __syncthreads() synchronises one block; a kernel boundary synchronises the whole grid. With two
// kernels per time step a system can use as many blocks as it has bodies for, and one grid over all
// systems fills the GPU.
//
// Parent: step04_unroll.   Run: step04b_blocks --systems 32 --bodies 8192 --steps 20
#include <cmath>

#include "nbody/step.h"
#include "nbody/timeline.h"

namespace {

constexpr int kTileSize = TUNABLE(TILE_SIZE, 512);
constexpr int kUnroll = TUNABLE(UNROLL, 16);
constexpr int kBlockSize = kTileSize;  // each thread loads one body of every tile

struct Position {
  float x, y, z, mass;
};
struct Velocity {
  float x, y, z;
};

// Returns the number of blocks that together have a thread for each body.
__host__ __device__ constexpr int blocks_for(int bodies) { return (bodies - 1) / kBlockSize + 1; }

// Returns a massless body for an index past the end, so that every tile is full for any N.
__device__ Position load(const Position* positions, int j, int n) {
  return j < n ? positions[j] : Position{0.0f, 0.0f, 0.0f, 0.0f};
}

// Kick: v_i += a_i dt. Reads positions only, so bodies may be updated in any order.
__global__ void __launch_bounds__(kBlockSize)
    update_velocities(const Position* all_positions, Velocity* all_velocities, int n, float dt,
                      float softening_squared) {
  __shared__ Position tile[kTileSize];
  const int system = blockIdx.x / blocks_for(n);
  const int i = blockIdx.x % blocks_for(n) * kBlockSize + threadIdx.x;
  const Position* const positions = all_positions + static_cast<size_t>(system) * n;
  Velocity* const velocities = all_velocities + static_cast<size_t>(system) * n;
  const Position body = load(positions, i, n);
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int first = 0; first < n; first += kTileSize) {
    tile[threadIdx.x] = load(positions, first + threadIdx.x, n);
    __syncthreads();  // no thread may read the tile before all of it is there
    float tile_ax = 0.0f, tile_ay = 0.0f, tile_az = 0.0f;
#pragma unroll kUnroll
    for (int j = 0; j < kTileSize; ++j) {
      const float dx = tile[j].x - body.x;
      const float dy = tile[j].y - body.y;
      const float dz = tile[j].z - body.z;
      const float distance_squared = dx * dx + dy * dy + dz * dz + softening_squared;
      const float inverse_distance = 1.0f / sqrtf(distance_squared);
      const float s = tile[j].mass * inverse_distance * inverse_distance * inverse_distance;
      tile_ax += s * dx;
      tile_ay += s * dy;
      tile_az += s * dz;
    }
    ax += tile_ax;
    ay += tile_ay;
    az += tile_az;
    __syncthreads();  // no thread may overwrite the tile before all have read it
  }
  if (i >= n) return;  // a thread past the end only loads its share of the tiles
  velocities[i].x += ax * dt;
  velocities[i].y += ay * dt;
  velocities[i].z += az * dt;
}

// Drift: x_i += v_i dt. A separate kernel: no body may drift before all forces of this step have
// been computed, and kernels in a stream run one after the other.
__global__ void update_positions(Position* positions, const Velocity* velocities, int n, float dt) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n) return;
  positions[i].x += velocities[i].x * dt;
  positions[i].y += velocities[i].y * dt;
  positions[i].z += velocities[i].z * dt;
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int count = systems.count, n = systems.bodies_per_system;
  std::vector<Position> host_positions(systems.bodies.size());
  std::vector<Velocity> host_velocities(systems.bodies.size());
  nbody::unpack(systems.bodies, host_positions, host_velocities);
  nbody::DeviceArray<Position> positions(systems.bodies.size());
  nbody::DeviceArray<Velocity> velocities(systems.bodies.size());
  nbody::StageTimer timer;
  nbody::upload(host_positions, positions);
  nbody::upload(host_velocities, velocities);
  timer.uploaded();
  for (int step = 0; step < run.steps; ++step) {
    update_velocities<<<count * blocks_for(n), kBlockSize>>>(positions.get(), velocities.get(), n,
                                                             run.dt, run.softening_squared);
    update_positions<<<blocks_for(count * n), kBlockSize>>>(positions.get(), velocities.get(),
                                                            count * n, run.dt);
  }
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
  return nbody::step_main({.name = "step04b_blocks",
                           .parent = "step04_unroll",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {kTileSize}},
                          simulate, argc, argv);
}
