// fused_double_buffer -- one kernel per time step kicks and drifts, and writes the positions to a
// second array.
//
// If the new positions go to another array, a body may drift while others still read its old
// position. The kernel reads one array and writes the other, and the next time step swaps them.
// Fusing saves one of two launches per step and costs only the second array.
//
// Parent: step07_overlap.   Run: fused_double_buffer --systems 32 --bodies 8192 --steps 20
#include <cmath>

#include "nbody/step.h"
#include "nbody/timeline.h"

namespace {

constexpr int kTileSize = TUNABLE(TILE_SIZE, 128);  // small: a launch has only one system
constexpr int kUnroll = TUNABLE(UNROLL, 16);
constexpr int kBlockSize = kTileSize;  // each thread loads one body of every tile
constexpr int kStreams = 16;

struct Position {
  float x, y, z, mass;
};
struct Velocity {
  float x, y, z;
};

// Returns how many blocks are needed to give each body a thread.
__host__ __device__ constexpr int blocks_for(int bodies) { return (bodies - 1) / kBlockSize + 1; }

// Returns massless bodies past the end, so that every tile is full and N may be any number.
__device__ Position load(const Position* __restrict__ positions, int j, int n) {
  if (j >= n) return {0.0f, 0.0f, 0.0f, 0.0f};
  const float* const p = &positions[j].x;
  return {__ldg(p), __ldg(p + 1), __ldg(p + 2), __ldg(p + 3)};
}

// Kick and drift: v_i += a_i dt, x_i += v_i dt. The new position goes to the second array.
__global__ void __launch_bounds__(kBlockSize)
    advance(const Position* __restrict__ positions, Position* __restrict__ next_positions,
            Velocity* __restrict__ velocities, int n, float dt, float softening_squared) {
  __shared__ Position tile[kTileSize];
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  const Position body = load(positions, i, n);
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int first = 0; first < n; first += kTileSize) {
    tile[threadIdx.x] = load(positions, first + threadIdx.x, n);
    __syncthreads();  // no thread may read the tile before it is complete
    float tile_ax = 0.0f, tile_ay = 0.0f, tile_az = 0.0f;
#pragma unroll kUnroll
    for (int j = 0; j < kTileSize; ++j) {
      const float dx = tile[j].x - body.x;
      const float dy = tile[j].y - body.y;
      const float dz = tile[j].z - body.z;
      const float distance_squared = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening_squared)));
      const float inverse_distance = rsqrtf(distance_squared);
      const float s = tile[j].mass * inverse_distance * inverse_distance * inverse_distance;
      tile_ax = fmaf(s, dx, tile_ax);
      tile_ay = fmaf(s, dy, tile_ay);
      tile_az = fmaf(s, dz, tile_az);
    }
    ax += tile_ax;
    ay += tile_ay;
    az += tile_az;
    __syncthreads();  // no thread may overwrite the tile before all have read it
  }
  if (i >= n) return;  // a thread past the end only loads its share of the tiles
  const Velocity old = velocities[i];
  const Velocity v{old.x + ax * dt, old.y + ay * dt, old.z + az * dt};
  velocities[i] = v;
  next_positions[i] = {body.x + v.x * dt, body.y + v.y * dt, body.z + v.z * dt, body.mass};
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int count = systems.count, n = systems.bodies_per_system;
  nbody::PinnedArray<Position> host_positions(systems.bodies.size());
  nbody::PinnedArray<Velocity> host_velocities(systems.bodies.size());
  nbody::unpack(systems.bodies, host_positions, host_velocities);
  nbody::DeviceArray<Position> positions(systems.bodies.size());
  nbody::DeviceArray<Position> next_positions(systems.bodies.size());
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
  }
  for (int system = 0; system < count; ++system) {
    const size_t first = static_cast<size_t>(system) * n;
    const cudaStream_t stream = streams[system % kStreams].get();
    for (int step = 0; step < run.steps; ++step) {
      const bool odd = step % 2 != 0;
      advance<<<blocks_for(n), kBlockSize, 0, stream>>>(
          (odd ? next_positions : positions).get() + first,
          (odd ? positions : next_positions).get() + first, velocities.get() + first, n, run.dt,
          run.softening_squared);
    }
    timeline.computed(system, stream);
  }
  const auto& last_positions = run.steps % 2 != 0 ? next_positions : positions;
  for (int system = 0; system < count; ++system) {
    const size_t first = static_cast<size_t>(system) * n;
    const cudaStream_t stream = streams[system % kStreams].get();
    CUDA_CHECK(cudaMemcpyAsync(&host_positions[first], last_positions.get() + first,
                               n * sizeof(Position), cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaMemcpyAsync(&host_velocities[first], velocities.get() + first,
                               n * sizeof(Velocity), cudaMemcpyDeviceToHost, stream));
    timeline.downloaded(system, stream);
  }
  CUDA_CHECK(cudaGetLastError());  // a launch returns no error; a bad configuration shows here

  CUDA_CHECK(cudaDeviceSynchronize());  // the host must not read what a copy still writes
  nbody::pack(host_positions, host_velocities, systems.bodies);
  return nbody::timing_of(timeline.spans());
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "fused_double_buffer",
                           .parent = "step07_overlap",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {kTileSize}},
                          simulate, argc, argv);
}
