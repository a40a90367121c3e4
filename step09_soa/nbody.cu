// step09_soa -- structure of arrays: x, y, z, mass, vx, vy and vz in separate arrays.
//
// A warp loads 128 contiguous bytes (coalesced) instead of every fourth float of 512 bytes.
//
// Parent: step08_multigpu.   Run: step09_soa --systems 32 --bodies 8192 --steps 20
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

// The bodies of a system: seven arrays of n floats, stored one after the other.
struct Arrays {
  float *x, *y, *z, *mass, *vx, *vy, *vz;
};
__host__ __device__ Arrays arrays_at(float* p, size_t n) {
  return {p, p + n, p + 2 * n, p + 3 * n, p + 4 * n, p + 5 * n, p + 6 * n};
}

// Returns the number of blocks that together have a thread for each body.
__host__ __device__ constexpr int blocks_for(int bodies) { return (bodies - 1) / kBlockSize + 1; }

// Returns a massless body for an index past the end, so that every tile is full for any N.
__device__ float load(const float* __restrict__ values, int j, int n) {
  return j < n ? __ldg(&values[j]) : 0.0f;
}

// Kick: v_i += a_i dt. Reads positions only, so bodies may be updated in any order.
__global__ void __launch_bounds__(kBlockSize)
    update_velocities(float* arrays, int n, float dt, float softening_squared) {
  const Arrays bodies = arrays_at(arrays, n);
  __shared__ float tile_x[kTileSize], tile_y[kTileSize], tile_z[kTileSize], tile_mass[kTileSize];
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  const float x = load(bodies.x, i, n), y = load(bodies.y, i, n), z = load(bodies.z, i, n);
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int first = 0; first < n; first += kTileSize) {
    tile_x[threadIdx.x] = load(bodies.x, first + threadIdx.x, n);
    tile_y[threadIdx.x] = load(bodies.y, first + threadIdx.x, n);
    tile_z[threadIdx.x] = load(bodies.z, first + threadIdx.x, n);
    tile_mass[threadIdx.x] = load(bodies.mass, first + threadIdx.x, n);
    __syncthreads();  // no thread may read the tile before all of it is there
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
    __syncthreads();  // no thread may overwrite the tile before all have read it
  }
  if (i >= n) return;  // a thread past the end only loads its share of the tiles
  bodies.vx[i] += ax * dt;
  bodies.vy[i] += ay * dt;
  bodies.vz[i] += az * dt;
}

// Drift: x_i += v_i dt. A separate kernel: no body may drift before all forces of this step have
// been computed, and kernels in a stream run one after the other.
__global__ void update_positions(float* arrays, int n, float dt) {
  const Arrays bodies = arrays_at(arrays, n);
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n) return;
  bodies.x[i] += bodies.vx[i] * dt;
  bodies.y[i] += bodies.vy[i] * dt;
  bodies.z[i] += bodies.vz[i] * dt;
}

// unpack copies systems of n bodies into arrays, and pack copies them back.
void unpack(std::span<const nbody::Body> from, int n, float* arrays) {
  for (size_t first = 0; first < from.size(); first += n) {
    const auto [x, y, z, mass, vx, vy, vz] = arrays_at(arrays + 7 * first, n);
    for (int i = 0; i < n; ++i) {
      const nbody::Body& b = from[first + i];
      x[i] = b.x, y[i] = b.y, z[i] = b.z, mass[i] = b.mass;
      vx[i] = b.vx, vy[i] = b.vy, vz[i] = b.vz;
    }
  }
}

void pack(float* arrays, int n, std::span<nbody::Body> to) {
  for (size_t first = 0; first < to.size(); first += n) {
    const auto [x, y, z, mass, vx, vy, vz] = arrays_at(arrays + 7 * first, n);
    for (int i = 0; i < n; ++i) to[first + i] = {x[i], y[i], z[i], vx[i], vy[i], vz[i], mass[i]};
  }
}

// The systems of one GPU: their bodies in host and device memory, and the streams that serve them.
struct Share {
  int device, first_system, count, n;
  size_t bodies = static_cast<size_t>(count) * n;
  nbody::KeptPinnedArray<float> host_arrays{7 * bodies};
  nbody::DeviceArray<float> arrays{7 * bodies};
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
    CUDA_CHECK(cudaMemcpyAsync(arrays.get() + 7 * first, &host_arrays[7 * first],
                               7 * sizeof(float) * n, cudaMemcpyHostToDevice, stream));
    timeline.uploaded(system, stream);
  }
  for (int system = 0; system < count; ++system) {
    const size_t first = static_cast<size_t>(system) * n;
    const cudaStream_t stream = streams[system % kStreams].get();
    float* const on_device = arrays.get() + 7 * first;
    for (int step = 0; step < run.steps; ++step) {
      update_velocities<<<blocks_for(n), kBlockSize, 0, stream>>>(on_device, n, run.dt,
                                                                  run.softening_squared);
      update_positions<<<blocks_for(n), kBlockSize, 0, stream>>>(on_device, n, run.dt);
    }
    timeline.computed(system, stream);
  }
  for (int system = 0; system < count; ++system) {
    const size_t first = static_cast<size_t>(system) * n;
    const cudaStream_t stream = streams[system % kStreams].get();
    CUDA_CHECK(cudaMemcpyAsync(&host_arrays[7 * first], arrays.get() + 7 * first,
                               7 * sizeof(float) * n, cudaMemcpyDeviceToHost, stream));
    timeline.downloaded(system, stream);
  }
  CUDA_CHECK(cudaGetLastError());  // a launch returns nothing: a bad configuration shows here
}

// Runs in the host thread of this GPU.
void Share::advance(const nbody::Run& run, nbody::Systems& systems) {
  CUDA_CHECK(cudaSetDevice(device));  // every host thread has its own current device
  const std::span own(systems.system(first_system).data(), bodies);
  unpack(own, n, &host_arrays[0]);
  enqueue(run);
  CUDA_CHECK(cudaDeviceSynchronize());  // the host must not read what a copy still writes
  pack(&host_arrays[0], n, own);
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
  return nbody::step_main({.name = "step09_soa",
                           .parent = "step08_multigpu",
                           .summation = nbody::Summation::tiled,
                           .multi_device = true,
                           .boundaries = {kTileSize}},
                          simulate, argc, argv);
}
