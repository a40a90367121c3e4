// step05_streams -- several blocks a system, two kernels a time step, and a stream for each of 16
// systems.
//
// A barrier ends at the block, a kernel's end reaches everywhere: with the force and the drift in
// kernels of their own, a system may use as many blocks as it has bodies for. Each system's upload,
// kernels and download follow one another in one stream; the streams run beside each other.
//
// Parent: step04_unroll.   Run: step05_streams --systems 32 --bodies 8192 --steps 20
#include "nbody/step.h"
#include "nbody/timeline.h"

namespace {

using nbody::Body;

#ifndef TILE_SIZE
#define TILE_SIZE 512
#endif
#ifndef UNROLL
#define UNROLL 8
#endif
constexpr int kTileSize = TILE_SIZE;
constexpr int kUnroll = UNROLL;
constexpr int kBlockSize = kTileSize;  // each thread loads one body of every tile
constexpr int kStreams = 16;

struct Position {
  float x, y, z, mass;
};
struct Velocity {
  float x, y, z;
};

// Past the end there are massless bodies, so that every tile is full.
__device__ Position load(const Position* positions, int j, int n) {
  return j < n ? positions[j] : Position{0.0f, 0.0f, 0.0f, 0.0f};
}

// Kick: v_i += a_i dt. Reads positions only, so bodies may be updated in any order. Threads past
// the end load their share of the tiles and reach every barrier, but write nothing.
__global__ void __launch_bounds__(kBlockSize)
    update_velocities(const Position* positions, Velocity* velocities, int n, float dt,
                      float softening_squared) {
  __shared__ Position tile[kTileSize];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const Position body = load(positions, i, n);
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int first = 0; first < n; first += kTileSize) {
    tile[threadIdx.x] = load(positions, first + threadIdx.x, n);
    __syncthreads();  // the whole tile must be there before anyone reads it
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
    __syncthreads();  // nobody may overwrite the tile while a slower thread still reads it
  }
  if (i >= n) return;
  velocities[i].x += ax * dt;
  velocities[i].y += ay * dt;
  velocities[i].z += az * dt;
}

// Drift: x_i += v_i dt. A kernel of its own: no body may drift before every force of this step has
// read its position, and kernels of one stream run one after the other.
__global__ void update_positions(Position* positions, const Velocity* velocities, int n, float dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  positions[i].x += velocities[i].x * dt;
  positions[i].y += velocities[i].y * dt;
  positions[i].z += velocities[i].z * dt;
}

// All systems: their bodies on both sides of the bus, and the streams that serve them.
struct Pipeline {
  int systems, n;
  size_t bodies = static_cast<size_t>(systems) * n;
  std::vector<Position> host_positions{bodies};
  std::vector<Velocity> host_velocities{bodies};
  nbody::DeviceArray<Position> positions{bodies};
  nbody::DeviceArray<Velocity> velocities{bodies};
  std::vector<nbody::Stream> streams{kStreams};
  nbody::Timeline timeline{systems};

  size_t first(int system) const { return static_cast<size_t>(system) * n; }
  cudaStream_t stream(int system) const { return streams[system % kStreams].get(); }

  void unpack(const Body* source) {
    for (size_t k = 0; k < bodies; ++k) {
      host_positions[k] = {source[k].x, source[k].y, source[k].z, source[k].mass};
      host_velocities[k] = {source[k].vx, source[k].vy, source[k].vz};
    }
  }

  void pack(Body* target) const {
    for (size_t k = 0; k < bodies; ++k) {
      const Position& p = host_positions[k];
      const Velocity& v = host_velocities[k];
      target[k] = {p.x, p.y, p.z, v.x, v.y, v.z, p.mass};
    }
  }

  void upload(int system) {
    timeline.mark(system, nbody::Mark::start, stream(system));
    CUDA_CHECK(cudaMemcpyAsync(positions.get() + first(system), &host_positions[first(system)],
                               n * sizeof(Position), cudaMemcpyHostToDevice, stream(system)));
    CUDA_CHECK(cudaMemcpyAsync(velocities.get() + first(system), &host_velocities[first(system)],
                               n * sizeof(Velocity), cudaMemcpyHostToDevice, stream(system)));
    timeline.mark(system, nbody::Mark::uploaded, stream(system));
  }

  void compute(int system, const nbody::Run& run) {
    Position* const p = positions.get() + first(system);
    Velocity* const v = velocities.get() + first(system);
    const int blocks = (n + kBlockSize - 1) / kBlockSize;
    for (int step = 0; step < run.steps; ++step) {
      update_velocities<<<blocks, kBlockSize, 0, stream(system)>>>(p, v, n, run.dt,
                                                                   run.softening_squared);
      update_positions<<<blocks, kBlockSize, 0, stream(system)>>>(p, v, n, run.dt);
    }
    CUDA_CHECK(cudaGetLastError());  // a bad configuration shows only here
    timeline.mark(system, nbody::Mark::computed, stream(system));
  }

  void download(int system) {
    CUDA_CHECK(cudaMemcpyAsync(&host_positions[first(system)], positions.get() + first(system),
                               n * sizeof(Position), cudaMemcpyDeviceToHost, stream(system)));
    CUDA_CHECK(cudaMemcpyAsync(&host_velocities[first(system)], velocities.get() + first(system),
                               n * sizeof(Velocity), cudaMemcpyDeviceToHost, stream(system)));
    timeline.mark(system, nbody::Mark::downloaded, stream(system));
  }

  void enqueue(const nbody::Run& run) {
    for (int system = 0; system < systems; ++system) {
      upload(system);
      compute(system, run);
      download(system);
    }
  }
};

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  Pipeline pipeline{systems.count, systems.bodies_per_system};
  pipeline.unpack(systems.bodies.data());
  pipeline.enqueue(run);
  CUDA_CHECK(cudaDeviceSynchronize());  // the host must not read what streams still write
  pipeline.pack(systems.bodies.data());
  return nbody::timing_of(pipeline.timeline.spans());
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "step05_streams",
                           .parent = "step04_unroll",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {kTileSize}},
                          simulate, argc, argv);
}
