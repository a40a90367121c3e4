// step10_tiled2d_cublas -- a two-dimensional grid, bodies x chunks of sources, summed by cuBLAS.
//
// One thread per body fills a GPU only with a few hundred thousand bodies or more. Here a block
// sums over one chunk of the sources, so that C chunks give C times as many blocks. The partial
// sums are a matrix with a row per component of a body and a column per chunk. The product with a
// vector of ones gives the accelerations; cuBLAS adds dt times these to the velocities.
//
// Parent: step06_ldg_fastmath.   Run: step10_tiled2d_cublas --scenario plummer --bodies 262144
#include <algorithm>
#include <cmath>

#include "nbody/cublas.h"
#include "nbody/step.h"
#include "nbody/timeline.h"

namespace {

constexpr int kTileSize = TUNABLE(TILE_SIZE, 256);
constexpr int kUnroll = TUNABLE(UNROLL, 16);
constexpr int kBlockSize = kTileSize;  // each thread loads one body of every tile
constexpr int kMinChunk = TUNABLE(MIN_CHUNK, 1024);
constexpr int kMaxChunks = TUNABLE(MAX_CHUNKS, 64);  // each takes 16 bytes per body for its sums

using Position = float4;  // read by one 16-byte load; w is the mass
using Velocity = float4;  // w is 0, and pads each sum to 16 bytes, so that stores are coalesced

// Returns the number of blocks that together have a thread for each body.
__host__ __device__ constexpr int blocks_for(int bodies) { return (bodies - 1) / kBlockSize + 1; }

// Returns a massless body for an index past the end, so that every tile is full for any N.
__device__ Position load(const Position* __restrict__ positions, int j, int n) {
  return j < n ? __ldg(&positions[j]) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

// Computes what the sources of chunk blockIdx.y add to each a_i: partials[chunk][i in all systems].
__global__ void __launch_bounds__(kBlockSize)
    partial_accelerations(const Position* __restrict__ all_positions, float4* __restrict__ partials,
                          int n, int chunk, size_t bodies, float softening_squared) {
  __shared__ Position tile[kTileSize];
  const int system = blockIdx.x / blocks_for(n);
  const int i = blockIdx.x % blocks_for(n) * kBlockSize + threadIdx.x;
  const Position* const positions = all_positions + static_cast<size_t>(system) * n;
  const int begin = blockIdx.y * chunk, end = min(begin + chunk, n);
  const Position body = load(positions, i, n);
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int first = begin; first < end; first += kTileSize) {
    tile[threadIdx.x] = load(positions, first + threadIdx.x, n);
    __syncthreads();  // no thread may read the tile before all of it is there
    float tile_ax = 0.0f, tile_ay = 0.0f, tile_az = 0.0f;
#pragma unroll kUnroll
    for (int j = 0; j < kTileSize; ++j) {
      const Position source = tile[j];
      const float dx = source.x - body.x;
      const float dy = source.y - body.y;
      const float dz = source.z - body.z;
      const float distance_squared = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening_squared)));
      const float inverse_distance = rsqrtf(distance_squared);
      const float s = source.w * inverse_distance * inverse_distance * inverse_distance;
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
  partials[blockIdx.y * bodies + static_cast<size_t>(system) * n + i] =
      make_float4(ax, ay, az, 0.0f);
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

// Returns the number of sources per chunk, a multiple of the tile so that no chunks share a tile.
int chunk_for(int n) {
  const int chunk = std::max(kMinChunk, (n - 1) / kMaxChunks + 1);
  return ((chunk - 1) / kTileSize + 1) * kTileSize;
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int count = systems.count, n = systems.bodies_per_system;
  const int chunk = chunk_for(n), chunks = (n - 1) / chunk + 1;
  const int rows = nbody::cublas_size(4 * systems.bodies.size());
  std::vector<Position> host_positions(systems.bodies.size());
  std::vector<Velocity> host_velocities(systems.bodies.size());
  nbody::unpack(systems.bodies, host_positions, host_velocities);
  nbody::DeviceArray<Position> positions(systems.bodies.size());
  nbody::DeviceArray<Velocity> velocities(systems.bodies.size());
  nbody::DeviceArray<float4> partials(systems.bodies.size() * chunks);
  nbody::DeviceArray<float> ones(chunks);
  const nbody::Cublas cublas;
  nbody::StageTimer timer;
  nbody::upload(host_positions, positions);
  nbody::upload(host_velocities, velocities);
  nbody::upload(std::vector<float>(chunks, 1.0f), ones);
  timer.uploaded();
  for (int step = 0; step < run.steps; ++step) {
    partial_accelerations<<<dim3(count * blocks_for(n), chunks), kBlockSize>>>(
        positions.get(), partials.get(), n, chunk, positions.size(), run.softening_squared);
    CUDA_CHECK(cudaGetLastError());  // a launch returns nothing: a bad configuration shows here
    // Kick: velocities = dt * partials * ones + one * velocities.
    const float one = 1.0f;
    CUBLAS_CHECK(cublasSgemv(cublas.get(), CUBLAS_OP_N, rows, chunks, &run.dt, &partials.get()->x,
                             rows, ones.get(), 1, &one, &velocities.get()->x, 1));
    update_positions<<<blocks_for(count * n), kBlockSize>>>(positions.get(), velocities.get(),
                                                            count * n, run.dt);
    CUDA_CHECK(cudaGetLastError());
  }
  timer.computed();
  nbody::download(positions, host_positions);
  nbody::download(velocities, host_velocities);
  timer.downloaded();
  nbody::pack(host_positions, host_velocities, systems.bodies);
  return timer.timing();
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "step10_tiled2d_cublas",
                           .parent = "step06_ldg_fastmath",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {kTileSize, kMinChunk}},
                          simulate, argc, argv);
}
