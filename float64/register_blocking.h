// The kernels of step 11 in float64, for its option --precision double.
//
// rsqrt() of a double takes five operations: it starts from the GPU's approximation y of the root,
// 1 / sqrt(d), and adds y e (1/2 + 3/8 e), where e = 1 - d y^2 (README.md).
// A body takes 32 bytes, and two bodies per thread are enough to keep the float64 units busy.
#pragma once

#include <cmath>

#include "nbody/shape.h"
#include "nbody/step.h"
#include "nbody/timeline.h"
#include "nbody/transfer.h"

namespace float64::register_blocking {

constexpr int kTileSize = 256;
constexpr int kBlockSize = kTileSize;  // each thread loads one body of every tile
constexpr int kBodies = 2;             // bodies per thread
constexpr int kMaxChunks = 64;

struct alignas(32) Four {
  double x, y, z, w;  // w is the mass of a position, otherwise 0
};

// Returns the number of blocks with a thread for every `per_thread` bodies.
constexpr int blocks_for(int bodies, int per_thread) {
  return (bodies - 1) / (kBlockSize * per_thread) + 1;
}

__device__ inline Four load(const Four* __restrict__ positions, int j, int n) {
  return j < n ? positions[j] : Four{};
}

__device__ inline void interact(const Four& source, const Four (&body)[kBodies], Four (&a)[kBodies],
                                double softening_squared) {
  for (int k = 0; k < kBodies; ++k) {
    const double dx = source.x - body[k].x;
    const double dy = source.y - body[k].y;
    const double dz = source.z - body[k].z;
    const double distance_squared = fma(dx, dx, fma(dy, dy, fma(dz, dz, softening_squared)));
    const double inverse_distance = rsqrt(distance_squared);
    const double s = source.w * inverse_distance * (inverse_distance * inverse_distance);
    a[k].x = fma(s, dx, a[k].x);
    a[k].y = fma(s, dy, a[k].y);
    a[k].z = fma(s, dz, a[k].z);
  }
}

// Computes what the sources of chunk blockIdx.y add to each a_i: partials[chunk][i in all systems].
static __global__ void __launch_bounds__(kBlockSize, 1)
    partial_accelerations(const Four* __restrict__ all_positions, Four* __restrict__ partials,
                          int n, int chunk, size_t bodies, double softening_squared) {
  __shared__ Four tile[kTileSize];
  const int blocks = (n - 1) / (kBlockSize * kBodies) + 1, system = blockIdx.x / blocks;
  const int first_i = blockIdx.x % blocks * kBlockSize * kBodies + threadIdx.x;
  const Four* const positions = all_positions + static_cast<size_t>(system) * n;
  const int begin = blockIdx.y * chunk, end = min(begin + chunk, n);
  Four body[kBodies], a[kBodies] = {};
  for (int k = 0; k < kBodies; ++k) body[k] = load(positions, first_i + k * kBlockSize, n);
  for (int first = begin; first < end; first += kTileSize) {
    tile[threadIdx.x] = load(positions, first + threadIdx.x, n);
    __syncthreads();            // no thread may read the tile before all of it is there
    Four tile_a[kBodies] = {};  // a single sum over all sources would lose a digit
#pragma unroll 4
    for (int j = 0; j < kTileSize; ++j) interact(tile[j], body, tile_a, softening_squared);
    for (int k = 0; k < kBodies; ++k) {
      a[k].x += tile_a[k].x;
      a[k].y += tile_a[k].y;
      a[k].z += tile_a[k].z;
    }
    __syncthreads();  // no thread may overwrite the tile while another still reads it
  }
  for (int k = 0; k < kBodies; ++k) {
    const int i = first_i + k * kBlockSize;
    if (i < n) partials[blockIdx.y * bodies + static_cast<size_t>(system) * n + i] = a[k];
  }
}

// Kicks and drifts all bodies.
static __global__ void update_bodies(Four* __restrict__ positions, Four* __restrict__ velocities,
                                     const Four* __restrict__ partials, int chunks, int n,
                                     double dt) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n) return;
  double ax = 0, ay = 0, az = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const Four partial = partials[static_cast<size_t>(chunk) * n + i];
    ax += partial.x;
    ay += partial.y;
    az += partial.z;
  }
  velocities[i].x += ax * dt;
  velocities[i].y += ay * dt;
  velocities[i].z += az * dt;
  positions[i].x += velocities[i].x * dt;
  positions[i].y += velocities[i].y * dt;
  positions[i].z += velocities[i].z * dt;
}

inline nbody::Timing simulate(const nbody::RunF64& run, nbody::SystemsF64& systems) {
  const int count = systems.count, n = systems.bodies_per_system, bodies = count * n;
  nbody::MassiveFirst order(systems);  // massless bodies exert no force, so no chunk contains them
  const int sources = order.sources();
  // An interaction takes about 40 issue slots, because an SM has only half as many float64 units as
  // lanes. Loading a body and storing its sum takes as long as 64 interactions.
  const auto [k, chunk, chunks] =
      nbody::divide(count, n, sources, kTileSize, kMaxChunks, {kBodies},
                    {.interaction = 40, .body = 64 * 40, .side_by_side = 2});
  nbody::DeviceArray<Four> positions(systems.bodies.size()), velocities(systems.bodies.size());
  nbody::DeviceArray<Four> partials(systems.bodies.size() * chunks);
  const nbody::Transfer transfer(systems.bodies);
  nbody::StageTimer timer;
  transfer.upload(positions.get(), velocities.get());
  timer.uploaded();
  for (int step = 0; step < run.steps; ++step) {
    partial_accelerations<<<dim3(count * blocks_for(n, k), chunks), kBlockSize>>>(
        positions.get(), partials.get(), n, chunk, positions.size(), run.softening_squared);
    update_bodies<<<blocks_for(bodies, 1), kBlockSize>>>(positions.get(), velocities.get(),
                                                         partials.get(), chunks, bodies, run.dt);
    CUDA_CHECK(cudaGetLastError());
  }
  timer.computed();
  transfer.download(positions.get(), velocities.get());
  timer.downloaded();
  order.restore();
  return timer.timing(sources);
}

}  // namespace float64::register_blocking
