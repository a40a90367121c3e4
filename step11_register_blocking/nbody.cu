// step11_register_blocking -- several bodies per thread: one load of a source serves them all.
//
// Each thread keeps K bodies and their sums in registers. A source that is read from shared memory
// takes part in K interactions, which do not wait for one another. The numbers of bodies and SMs
// determine K and the chunk size. A kernel, not cuBLAS, adds the sums and moves the bodies.
//
// Parent: step10_tiled2d_cublas.   Run: step11_register_blocking --scenario plummer --bodies 262144
#include <cmath>

#include "float64/register_blocking.h"
#include "nbody/float3.h"
#include "nbody/shape.h"
#include "nbody/step.h"
#include "nbody/timeline.h"
#include "nbody/transfer.h"

namespace {

using namespace nbody;  // arithmetic with float3

constexpr int kTileSize = TUNABLE(TILE_SIZE, 256);
constexpr int kBlockSize = kTileSize;  // each thread loads one body of every tile
constexpr int kUnroll = TUNABLE(UNROLL, 4);
constexpr int kMaxChunks = TUNABLE(MAX_CHUNKS, 64);  // each takes 16 bytes per body for its sums

using Position = float4;  // read by one 16-byte load; w is the mass
using Velocity = float4;  // w is 0, and pads each sum to 16 bytes, so that stores are coalesced

// Returns the number of blocks that together have a thread for every K bodies.
__host__ __device__ constexpr int blocks_for(int bodies, int k) {
  return (bodies - 1) / (kBlockSize * k) + 1;
}

// Returns a massless body for an index past the end, so that every tile is full for any N.
__device__ Position load(const Position* __restrict__ positions, int j, int n) {
  return j < n ? __ldg(&positions[j]) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

// Pairs a source with the K bodies of a thread; the interactions do not wait for one another.
template <int K>
__device__ void interact(Position source, const Position (&body)[K], float3 (&a)[K],
                         float softening_squared) {
  for (int k = 0; k < K; ++k) {
    const float3 d = xyz(source) - xyz(body[k]);
    const float inverse_distance = rsqrtf(dot(d, d, softening_squared));
    const float s = source.w * inverse_distance * (inverse_distance * inverse_distance);
    a[k] = fma(s, d, a[k]);
  }
}

// Computes what the sources of chunk blockIdx.y add to each a_i: partials[chunk][i in all systems].
// The bodies of a thread are kBlockSize apart, so that a warp loads and stores 32 neighbours.
template <int K>
__global__ void __launch_bounds__(kBlockSize, 1)
    partial_accelerations(const Position* __restrict__ all_positions, float4* __restrict__ partials,
                          int n, int chunk, size_t bodies, float softening_squared) {
  __shared__ Position tile[kTileSize];
  const int system = blockIdx.x / blocks_for(n, K);
  const int first_i = blockIdx.x % blocks_for(n, K) * kBlockSize * K + threadIdx.x;
  const Position* const positions = all_positions + static_cast<size_t>(system) * n;
  const int begin = blockIdx.y * chunk, end = min(begin + chunk, n);
  Position body[K];
  float3 a[K] = {};
  for (int k = 0; k < K; ++k) body[k] = load(positions, first_i + k * kBlockSize, n);
  for (int first = begin; first < end; first += kTileSize) {
    tile[threadIdx.x] = load(positions, first + threadIdx.x, n);
    __syncthreads();  // no thread may read the tile before all of it is there
    float3 tile_a[K] = {};
#pragma unroll kUnroll
    for (int j = 0; j < kTileSize; ++j) interact<K>(tile[j], body, tile_a, softening_squared);
    for (int k = 0; k < K; ++k) a[k] += tile_a[k];
    __syncthreads();  // no thread may overwrite the tile before all have read it
  }
  for (int k = 0; k < K; ++k) {
    const int i = first_i + k * kBlockSize;
    if (i >= n) break;  // a thread past the end only loads its share of the tiles
    partials[blockIdx.y * bodies + static_cast<size_t>(system) * n + i] =
        make_float4(a[k].x, a[k].y, a[k].z, 0.0f);
  }
}

// Adds the partial sums in the order of the chunks, then kicks (v_i += a_i dt) and drifts
// (x_i += v_i dt). All forces of this step are known, so a body may move at once.
__global__ void update_bodies(Position* __restrict__ positions, Velocity* __restrict__ velocities,
                              const float4* __restrict__ partials, int chunks, int n, float dt) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n) return;
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
#pragma unroll 8
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const float4 partial = partials[static_cast<size_t>(chunk) * n + i];
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

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int count = systems.count, n = systems.bodies_per_system, bodies = count * n;
  nbody::MassiveFirst order(systems);  // massless bodies exert no force and get no chunks
  // Issue slots: 14 K for K interactions, 3 for their source and the loop, 0.004 per partial sum.
  const auto [k, chunk, chunks] =
      nbody::divide(count, n, order.sources(), kTileSize, kMaxChunks, {4, 2, 1},
                    {.interaction = 14, .source = 3, .partial_sum = 0.004, .side_by_side = 3});
  const auto kernel = k == 4   ? partial_accelerations<4>
                      : k == 2 ? partial_accelerations<2>
                               : partial_accelerations<1>;
  nbody::DeviceArray<Position> positions(systems.bodies.size());
  nbody::DeviceArray<Velocity> velocities(systems.bodies.size());
  nbody::DeviceArray<float4> partials(systems.bodies.size() * chunks);
  const nbody::Transfer transfer(systems.bodies);
  nbody::StageTimer timer;
  transfer.upload(positions.get(), velocities.get());
  timer.uploaded();
  for (int step = 0; step < run.steps; ++step) {
    kernel<<<dim3(count * blocks_for(n, k), chunks), kBlockSize>>>(
        positions.get(), partials.get(), n, chunk, positions.size(), run.softening_squared);
    update_bodies<<<blocks_for(bodies, 1), kBlockSize>>>(positions.get(), velocities.get(),
                                                         partials.get(), chunks, bodies, run.dt);
    CUDA_CHECK(cudaGetLastError());  // a launch returns nothing: a bad configuration shows here
  }
  timer.computed();
  transfer.download(positions.get(), velocities.get());
  timer.downloaded();
  order.restore();
  return timer.timing(order.sources());
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "step11_register_blocking",
                           .parent = "step10_tiled2d_cublas",
                           .summation = nbody::Summation::tiled,
                           .float64 = float64::register_blocking::simulate,
                           .boundaries = {kTileSize, 4 * kTileSize}},
                          simulate, argc, argv);
}
