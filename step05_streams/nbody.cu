// step05_streams -- each system has its own copies and kernels, in one of 16 streams.
//
// Operations in one stream run in order: a system's upload, its kernels, its download. Streams are
// independent, so the kernels of one system may overlap with the copies of another. A launch
// computes one system. 16 blocks of 512 would use 16 of 132 SMs, so there are 64 blocks of 128.
//
// Parent: step04b_blocks.   Run: step05_streams --systems 32 --bodies 8192 --steps 20
#include <cmath>

#include "nbody/step.h"
#include "nbody/timeline.h"

namespace {

constexpr int kTileSize = TUNABLE(TILE_SIZE, 128);  // small, so that one system has many blocks
constexpr int kUnroll = TUNABLE(UNROLL, 16);
constexpr int kBlockSize = kTileSize;  // each thread loads one body of every tile
constexpr int kStreams = 16;

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
    update_velocities(const Position* positions, Velocity* velocities, int n, float dt,
                      float softening_squared) {
  __shared__ Position tile[kTileSize];
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
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
  std::vector<nbody::Stream> streams(kStreams);
  nbody::Timeline timeline(count);
  for (int system = 0; system < count; ++system) {
    const size_t first = static_cast<size_t>(system) * n;
    const cudaStream_t stream = streams[system % kStreams].get();
    timeline.start(system, stream);
    CUDA_CHECK(cudaMemcpyAsync(positions.get() + first, &host_positions[first],
                               n * sizeof(Position), cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaMemcpyAsync(velocities.get() + first, &host_velocities[first],
                               n * sizeof(Velocity), cudaMemcpyHostToDevice, stream));
    timeline.uploaded(system, stream);
    for (int step = 0; step < run.steps; ++step) {
      update_velocities<<<blocks_for(n), kBlockSize, 0, stream>>>(
          positions.get() + first, velocities.get() + first, n, run.dt, run.softening_squared);
      update_positions<<<blocks_for(n), kBlockSize, 0, stream>>>(
          positions.get() + first, velocities.get() + first, n, run.dt);
    }
    timeline.computed(system, stream);
    CUDA_CHECK(cudaMemcpyAsync(&host_positions[first], positions.get() + first,
                               n * sizeof(Position), cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaMemcpyAsync(&host_velocities[first], velocities.get() + first,
                               n * sizeof(Velocity), cudaMemcpyDeviceToHost, stream));
    timeline.downloaded(system, stream);
  }
  CUDA_CHECK(cudaGetLastError());  // a launch returns nothing: a bad configuration shows here

  CUDA_CHECK(cudaDeviceSynchronize());  // the host must not read what a copy still writes
  nbody::pack(host_positions, host_velocities, systems.bodies);
  return nbody::timing_of(timeline.spans());
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "step05_streams",
                           .parent = "step04b_blocks",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {kTileSize}},
                          simulate, argc, argv);
}
