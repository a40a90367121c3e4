// step08_multigpu -- the systems are distributed over all GPUs, one host thread per GPU.
//
// A launch takes microseconds of the host's time, and 32 systems x 20 steps need 1280 launches. A
// single host thread that served eight GPUs in turn would keep seven of the GPUs waiting.
//
// Parent: step07_overlap.   Run: step08_multigpu --systems 256 --bodies 8192 --steps 20
#include <algorithm>
#include <cmath>
#include <future>

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
__device__ Position load(const Position* __restrict__ positions, int j, int n) {
  if (j >= n) return {0.0f, 0.0f, 0.0f, 0.0f};
  const float* const p = &positions[j].x;
  return {__ldg(p), __ldg(p + 1), __ldg(p + 2), __ldg(p + 3)};
}

// Kick: v_i += a_i dt. Reads positions only, so bodies may be updated in any order.
__global__ void __launch_bounds__(kBlockSize)
    update_velocities(const Position* __restrict__ positions, Velocity* __restrict__ velocities,
                      int n, float dt, float softening_squared) {
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
  velocities[i].x += ax * dt;
  velocities[i].y += ay * dt;
  velocities[i].z += az * dt;
}

// Drift: x_i += v_i dt. A separate kernel: no body may drift before all forces of this step have
// been computed, and kernels in a stream run one after the other.
__global__ void update_positions(Position* __restrict__ positions,
                                 const Velocity* __restrict__ velocities, int n, float dt) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n) return;
  positions[i].x += velocities[i].x * dt;
  positions[i].y += velocities[i].y * dt;
  positions[i].z += velocities[i].z * dt;
}

// The systems of one GPU: their bodies in host and device memory, and the streams that serve them.
struct Share {
  int device, first_system, count, n;
  size_t bodies = static_cast<size_t>(count) * n;
  nbody::KeptPinnedArray<Position> host_positions{bodies};
  nbody::KeptPinnedArray<Velocity> host_velocities{bodies};
  nbody::DeviceArray<Position> positions{bodies};
  nbody::DeviceArray<Velocity> velocities{bodies};
  std::vector<nbody::Stream> streams{kStreams};
  nbody::Timeline timeline{count, device};

  void enqueue(const nbody::Run& run);
  void advance(const nbody::Run& run, nbody::Systems& systems);
};

// Enqueues the work of this GPU, and returns before the GPU has done any of it.
void Share::enqueue(const nbody::Run& run) {
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
      update_velocities<<<blocks_for(n), kBlockSize, 0, stream>>>(
          positions.get() + first, velocities.get() + first, n, run.dt, run.softening_squared);
      update_positions<<<blocks_for(n), kBlockSize, 0, stream>>>(
          positions.get() + first, velocities.get() + first, n, run.dt);
    }
    timeline.computed(system, stream);
  }
  for (int system = 0; system < count; ++system) {
    const size_t first = static_cast<size_t>(system) * n;
    const cudaStream_t stream = streams[system % kStreams].get();
    CUDA_CHECK(cudaMemcpyAsync(&host_positions[first], positions.get() + first,
                               n * sizeof(Position), cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaMemcpyAsync(&host_velocities[first], velocities.get() + first,
                               n * sizeof(Velocity), cudaMemcpyDeviceToHost, stream));
    timeline.downloaded(system, stream);
  }
  CUDA_CHECK(cudaGetLastError());  // a launch returns nothing: a bad configuration shows here
}

// Runs in the host thread of this GPU.
void Share::advance(const nbody::Run& run, nbody::Systems& systems) {
  CUDA_CHECK(cudaSetDevice(device));  // every host thread has its own current device
  const std::span own(systems.system(first_system).data(), bodies);
  nbody::unpack(own, host_positions, host_velocities);
  enqueue(run);
  CUDA_CHECK(cudaDeviceSynchronize());  // the host must not read what a copy still writes
  nbody::pack(host_positions, host_velocities, own);
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int devices = std::min(run.devices, systems.count);
  std::vector<Share> shares;
  for (int device = 0, first_system = 0; device < devices; ++device) {
    // The first systems.count % devices GPUs take one system more than the others.
    const int count = systems.count / devices + (device < systems.count % devices);
    CUDA_CHECK(cudaSetDevice(device));  // the memory, streams and events of the share are on it
    shares.push_back({device, first_system, count, systems.bodies_per_system});
    first_system += count;
  }
  std::vector<std::future<void>> threads;
  for (Share& share : shares) {
    threads.push_back(std::async(std::launch::async, [&] { share.advance(run, systems); }));
  }
  for (std::future<void>& thread : threads) thread.get();  // throws what the thread threw
  std::vector<nbody::Span> spans;
  for (const Share& share : shares) {
    const auto more = share.timeline.spans(share.first_system);
    spans.insert(spans.end(), more.begin(), more.end());
  }
  return nbody::timing_of(spans);
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "step08_multigpu",
                           .parent = "step07_overlap",
                           .summation = nbody::Summation::tiled,
                           .multi_device = true,
                           .boundaries = {kTileSize}},
                          simulate, argc, argv);
}
