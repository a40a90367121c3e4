// step03_tiling -- bodies are loaded into shared memory in tiles; each tile serves 1024 threads.
//
// Half of the threads load one body each; then all of them read those bodies from shared memory
// instead of from the caches. The forces of a tile are summed separately, which is more accurate.
//
// Parent: step02_layout.   Run: step03_tiling --systems 32 --bodies 8192 --steps 20
#include <cmath>

#include "nbody/step.h"
#include "nbody/timeline.h"

namespace {

constexpr int kTileSize = TUNABLE(TILE_SIZE, 512);
constexpr int kBlockSize = 1024;  // the maximum on every GPU
static_assert(kTileSize <= kBlockSize && kBlockSize % kTileSize == 0,
              "a tile is loaded by the first threads of the block, one body each");

struct Position {
  float x, y, z, mass;
};
struct Velocity {
  float x, y, z;
};

// Returns a massless body for an index past the end, so that every tile is full for any N.
__device__ Position load(const Position* positions, int j, int n) {
  return j < n ? positions[j] : Position{0.0f, 0.0f, 0.0f, 0.0f};
}

// Kick: v_i += a_i dt. Reads positions only, so bodies may be updated in any order.
__device__ void update_velocity(const Position* positions, Velocity* velocities, int i, int n,
                                float dt, float softening_squared) {
  __shared__ Position tile[kTileSize];
  const Position body = load(positions, i, n);
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int first = 0; first < n; first += kTileSize) {
    if (threadIdx.x < kTileSize) tile[threadIdx.x] = load(positions, first + threadIdx.x, n);
    __syncthreads();  // no thread may read the tile before all of it is there
    float tile_ax = 0.0f, tile_ay = 0.0f, tile_az = 0.0f;
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
    for (int first = 0; first < n; first += blockDim.x) {
      update_velocity(positions, velocities, first + threadIdx.x, n, dt, softening_squared);
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
  return nbody::step_main({.name = "step03_tiling",
                           .parent = "step02_layout",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {kTileSize, kBlockSize}},
                          simulate, argc, argv);
}
