// step09_soa -- struct of arrays: x, y, z, mass, vx, vy and vz each on their own, tiles of 256.
//
// Neighbouring threads read neighbouring floats: a warp's load is 128 bytes in a row instead of
// every fourth float of 512. In shared memory four bodies' x lie side by side, so that one
// instruction loads them for four interactions.
//
// Parent: step08_multigpu.   Run: step09_soa --systems 32 --bodies 8192 --steps 20
#include <algorithm>
#include <future>

#include "nbody/step.h"
#include "nbody/timeline.h"

namespace {

using nbody::Body;

#ifndef TILE_SIZE
#define TILE_SIZE 256
#endif
#ifndef UNROLL
#define UNROLL 8
#endif
constexpr int kTileSize = TILE_SIZE;
constexpr int kUnroll = UNROLL;
constexpr int kBlockSize = kTileSize;  // each thread loads one body of every tile
constexpr int kStreams = 16;

// A system is seven arrays of n floats, one behind the other.
enum Component { X, Y, Z, MASS, VX, VY, VZ, kComponents };

// The read-only load. Past the end there are massless bodies, so that every tile is full.
__device__ float load(const float* __restrict__ bodies, Component c, int j, int n) {
  return j < n ? __ldg(&bodies[c * n + j]) : 0.0f;
}

// Kick: v_i += a_i dt. Reads positions only, so bodies may be updated in any order. Threads past
// the end load their share of the tiles and reach every barrier, but write nothing.
__global__ void __launch_bounds__(kBlockSize)
    update_velocities(float* bodies, int n, float dt, float softening_squared) {
  __shared__ float tile_x[kTileSize], tile_y[kTileSize], tile_z[kTileSize], tile_mass[kTileSize];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = load(bodies, X, i, n), y = load(bodies, Y, i, n), z = load(bodies, Z, i, n);
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int first = 0; first < n; first += kTileSize) {
    tile_x[threadIdx.x] = load(bodies, X, first + threadIdx.x, n);
    tile_y[threadIdx.x] = load(bodies, Y, first + threadIdx.x, n);
    tile_z[threadIdx.x] = load(bodies, Z, first + threadIdx.x, n);
    tile_mass[threadIdx.x] = load(bodies, MASS, first + threadIdx.x, n);
    __syncthreads();  // the whole tile must be there before anyone reads it
    float tile_ax = 0.0f, tile_ay = 0.0f, tile_az = 0.0f;
#pragma unroll kUnroll
    for (int j = 0; j < kTileSize; ++j) {
      const float dx = tile_x[j] - x;
      const float dy = tile_y[j] - y;
      const float dz = tile_z[j] - z;
      const float distance_squared = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening_squared)));
      const float inverse_distance = rsqrtf(distance_squared);
      const float s = tile_mass[j] * inverse_distance * inverse_distance * inverse_distance;
      tile_ax = fmaf(s, dx, tile_ax);
      tile_ay = fmaf(s, dy, tile_ay);
      tile_az = fmaf(s, dz, tile_az);
    }
    ax += tile_ax;
    ay += tile_ay;
    az += tile_az;
    __syncthreads();  // nobody may overwrite the tile while a slower thread still reads it
  }
  if (i >= n) return;
  bodies[VX * n + i] += ax * dt;
  bodies[VY * n + i] += ay * dt;
  bodies[VZ * n + i] += az * dt;
}

// Drift: x_i += v_i dt. A kernel of its own: no body may drift before every force of this step has
// read its position, and kernels of one stream run one after the other.
__global__ void update_positions(float* bodies, int n, float dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  bodies[X * n + i] += bodies[VX * n + i] * dt;
  bodies[Y * n + i] += bodies[VY * n + i] * dt;
  bodies[Z * n + i] += bodies[VZ * n + i] * dt;
}

// One device's systems: their bodies on both sides of the bus, and the streams that serve them.
struct Pipeline {
  int device, first_system, systems, n;
  size_t floats = static_cast<size_t>(systems) * n * kComponents;
  nbody::PinnedArray<float> host_bodies{floats};
  nbody::DeviceArray<float> bodies{floats};
  std::vector<nbody::Stream> streams{kStreams};
  nbody::Timeline timeline{systems, device};

  size_t first(int system) const { return static_cast<size_t>(system) * n * kComponents; }
  cudaStream_t stream(int system) const { return streams[system % kStreams].get(); }

  void unpack(const Body* source) {
    for (int system = 0; system < systems; ++system) {
      float* const to = &host_bodies[first(system)];
      for (int i = 0; i < n; ++i, ++source) {
        const float body[] = {source->x,  source->y,  source->z, source->mass,
                              source->vx, source->vy, source->vz};
        for (int c = 0; c < kComponents; ++c) to[c * n + i] = body[c];
      }
    }
  }

  void pack(Body* target) const {
    for (int system = 0; system < systems; ++system) {
      const float* const from = &host_bodies[first(system)];
      for (int i = 0; i < n; ++i, ++target) {
        *target = {from[X * n + i],  from[Y * n + i],  from[Z * n + i],   from[VX * n + i],
                   from[VY * n + i], from[VZ * n + i], from[MASS * n + i]};
      }
    }
  }

  void upload(int system) {
    timeline.mark(system, nbody::Mark::start, stream(system));
    CUDA_CHECK(cudaMemcpyAsync(bodies.get() + first(system), &host_bodies[first(system)],
                               kComponents * n * sizeof(float), cudaMemcpyHostToDevice,
                               stream(system)));
    timeline.mark(system, nbody::Mark::uploaded, stream(system));
  }

  void compute(int system, const nbody::Run& run) {
    float* const b = bodies.get() + first(system);
    const int blocks = (n + kBlockSize - 1) / kBlockSize;
    for (int step = 0; step < run.steps; ++step) {
      update_velocities<<<blocks, kBlockSize, 0, stream(system)>>>(b, n, run.dt,
                                                                   run.softening_squared);
      update_positions<<<blocks, kBlockSize, 0, stream(system)>>>(b, n, run.dt);
    }
    CUDA_CHECK(cudaGetLastError());  // a bad configuration shows only here
    timeline.mark(system, nbody::Mark::computed, stream(system));
  }

  void download(int system) {
    CUDA_CHECK(cudaMemcpyAsync(&host_bodies[first(system)], bodies.get() + first(system),
                               kComponents * n * sizeof(float), cudaMemcpyDeviceToHost,
                               stream(system)));
    timeline.mark(system, nbody::Mark::downloaded, stream(system));
  }

  // Returns before any of it is done.
  void enqueue(const nbody::Run& run) {
    for (int system = 0; system < systems; ++system) upload(system);
    for (int system = 0; system < systems; ++system) compute(system, run);
    for (int system = 0; system < systems; ++system) download(system);
  }
};

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int devices = std::min(run.devices, systems.count);
  std::vector<Pipeline> pipelines;
  for (int device = 0, first = 0; device < devices; ++device) {
    // The first systems.count % devices devices take one system more than the others.
    const int count = systems.count / devices + (device < systems.count % devices);
    CUDA_CHECK(cudaSetDevice(device));
    pipelines.push_back({device, first, count, systems.bodies_per_system});
    first += count;
  }
  std::vector<std::future<void>> threads;
  for (Pipeline& pipeline : pipelines) {
    threads.push_back(std::async(std::launch::async, [&] {
      CUDA_CHECK(cudaSetDevice(pipeline.device));  // every host thread has a current device
      Body* const bodies = systems.system(pipeline.first_system).data();
      pipeline.unpack(bodies);
      pipeline.enqueue(run);
      CUDA_CHECK(cudaDeviceSynchronize());  // the host must not read what streams still write
      pipeline.pack(bodies);
    }));
  }
  for (std::future<void>& thread : threads) thread.get();  // throws what the thread threw
  std::vector<nbody::Span> spans;
  for (const Pipeline& pipeline : pipelines) {
    const auto more = pipeline.timeline.spans(pipeline.first_system);
    spans.insert(spans.end(), more.begin(), more.end());
  }
  return nbody::timing_of(spans);
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "step09_soa",
                           .parent = "step08_multigpu",
                           .summation = nbody::Summation::tiled,
                           .multi_device = true,
                           .boundaries = {kTileSize}},
                          simulate, argc, argv);
}
