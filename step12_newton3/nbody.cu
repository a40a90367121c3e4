// step12_newton3 -- each pair once: the force of i on j is that of j on i, reversed.
//
// A warp keeps 32 K bodies in registers, K per lane. Sources come in groups of 32. The sum of the
// forces on a source goes from lane to lane until all 32 K bodies have contributed. So a pair costs
// one reciprocal square root, not two, and no sum depends on the order of the blocks.
//
// Parent: step11_register_blocking.   Run: step12_newton3 --scenario plummer --bodies 262144
#include <cmath>

#include "float64/each_pair_once.h"
#include "nbody/float3.h"
#include "nbody/shape.h"
#include "nbody/step.h"
#include "nbody/timeline.h"
#include "nbody/transfer.h"

namespace {

using namespace nbody;  // arithmetic with float3

constexpr int kUnroll = TUNABLE(UNROLL, 8);
constexpr int kMinWarps = TUNABLE(MIN_WARPS, 1);  // fewest warps per block that pairs tiles
constexpr int kBlockSize = 128;                   // threads per block of update_bodies
constexpr size_t kMaxBytes = size_t{TUNABLE(MAX_KIBIBYTES, 2 << 20)} << 10;  // for partial sums

using Position = float4;  // read by one 16-byte load; w is the mass
using Velocity = float4;  // w is 0; one 16-byte load or store

// Returns a massless body for an index past the end, so that every tile is full for any N.
__device__ Position load(const Position* __restrict__ positions, int j, int n) {
  return j < n ? __ldg(&positions[j]) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

// Pairs a source with the K bodies of a thread; the interactions do not wait for one another.
// With kOneMass all sources have the same mass, as have all bodies; the caller multiplies by both.
template <bool kOneMass, int K>
__device__ void interact(Position source, const Position (&body)[K], float3 (&a)[K],
                         float3& reaction, float softening_squared) {
  for (int k = 0; k < K; ++k) {
    const float3 d = xyz(source) - xyz(body[k]);
    const float inverse_distance = rsqrtf(dot(d, d, softening_squared));
    const float cubed = inverse_distance * inverse_distance * inverse_distance;
    const float s = kOneMass ? cubed : source.w * cubed, t = kOneMass ? cubed : body[k].w * cubed;
    a[k] = fma(s, d, a[k]);
    reaction = fma(-t, d, reaction);
  }
}

// Pairs 32 sources with the bodies of a warp. In step s a lane works on source lane + s (the slab
// holds the sources twice, so no remainder is needed). Then it takes over the sum of the next lane,
// which belongs to its next source. After 32 steps every lane has the sum of its own source.
template <bool kOneMass, int K>
__device__ float3 meet(const Position* slab, const Position (&body)[K], float3 (&a)[K],
                       float softening_squared) {
  const int lane = threadIdx.x % 32, next = (lane + 1) % 32;
  float3 reaction = {};
#pragma unroll kUnroll
  for (int s = 0; s < 32; ++s) {
    interact<kOneMass, K>(slab[lane + s], body, a, reaction, softening_squared);
    reaction.x = __shfl_sync(0xffffffff, reaction.x, next);
    reaction.y = __shfl_sync(0xffffffff, reaction.y, next);
    reaction.z = __shfl_sync(0xffffffff, reaction.z, next);
  }
  return reaction;
}

// Pairs all sources of a column with the bodies of a block. In each turn every warp takes another
// part of the column, so no two warps add to the same sums, and the order is fixed.
template <bool kOneMass, int K, int kWarps>
__device__ void meet_column(const Position* __restrict__ positions, int first, int n,
                            const Position (&body)[K], float3 (&a)[K], Position* slab,
                            float3* column_a, float softening_squared) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int turn = 0; turn < kWarps; ++turn) {
    for (int k = 0; k < K; ++k) {
      const int j = ((warp + turn) % kWarps * K + k) * 32 + lane;
      slab[lane] = slab[lane + 32] = load(positions, first + j, n);
      __syncwarp();  // no lane may read the slab before all of it is there
      const float3 reaction = meet<kOneMass, K>(slab, body, a, softening_squared);
      __syncwarp();  // no lane may overwrite it while another still reads it
      column_a[j] += reaction;
    }
    __syncthreads();  // the next turn, or the caller, uses the sums of another warp
  }
}

// Tiles form a ring. A block pairs tile `row` with the tile `offset` places ahead, the column;
// offsets up to half the ring yield all pairs. With y = blockIdx.y, partials[2 y] has the column's
// forces on the row's bodies, and partials[2 y + 1] the row's forces on the column's bodies.
// kOneMassTiles is false if no tile has equal masses, because testing each tile would cost 4 %.
template <bool kOneMassTiles, int K, int kWarps>
__global__ void __launch_bounds__(32 * kWarps, nbody::resident_blocks((K > 8 ? 16 : 20) / kWarps))
    partial_accelerations(const Position* __restrict__ all_positions,
                          const float* __restrict__ tile_mass, float3* __restrict__ partials, int n,
                          int first_offset, size_t bodies, float softening_squared) {
  constexpr int kTile = 32 * K * kWarps;
  __shared__ Position slabs[kWarps][64];
  __shared__ float3 column_a[kTile];
  const int tiles = (n - 1) / kTile + 1, system = blockIdx.x / tiles, row = blockIdx.x % tiles;
  const int offset = first_offset + blockIdx.y, column = (row + offset) % tiles;
  const Position* const positions = all_positions + static_cast<size_t>(system) * n;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first_i = row * kTile + warp * 32 * K + lane;
  Position body[K];
  float3 a[K] = {};
  for (int k = 0; k < K; ++k) body[k] = load(positions, first_i + k * 32, n);
  for (int k = 0; k < K; ++k) column_a[k * 32 * kWarps + threadIdx.x] = {};
  __syncthreads();  // no warp may add to a sum before it is zero
  const float row_mass = tile_mass[system * tiles + row];
  const float column_mass = tile_mass[system * tiles + column];
  const bool one_mass = kOneMassTiles && row_mass >= 0.0f && column_mass >= 0.0f;
  // Two tiles half the ring apart would be paired from both sides, so only one side pairs them.
  if (2 * offset < tiles || row < column) {
    const int first = column * kTile;
    if (one_mass) {
      meet_column<true, K, kWarps>(positions, first, n, body, a, slabs[warp], column_a,
                                   softening_squared);
    } else {
      meet_column<false, K, kWarps>(positions, first, n, body, a, slabs[warp], column_a,
                                    softening_squared);
    }
  }
  const float on_row = one_mass ? column_mass : 1.0f;
  // In a tile paired with itself, the row's sums are complete, so the column's are not added.
  const float on_column = offset == 0 ? 0.0f : one_mass ? row_mass : 1.0f;
  float3* const row_partials = partials + 2 * blockIdx.y * bodies + static_cast<size_t>(system) * n;
  for (int k = 0; k < K; ++k) {
    const int i = first_i + k * 32;
    if (i < n) row_partials[i] = on_row * a[k];
    const int of_tile = k * 32 * kWarps + threadIdx.x, j = column * kTile + of_tile;
    if (j < n) row_partials[bodies + j] = on_column * column_a[of_tile];
  }
}

// Adds the partial sums in the order of the chunks, then kicks (v_i += a_i dt) and drifts
// (x_i += v_i dt). Here a chunk of the sources is a tile: one row or column.
__global__ void update_bodies(Position* __restrict__ positions, Velocity* __restrict__ velocities,
                              const float3* __restrict__ partials, int chunks, int n, float dt,
                              bool last) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n) return;
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
#pragma unroll 8
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const float3 partial = partials[static_cast<size_t>(chunk) * n + i];
    ax += partial.x;
    ay += partial.y;
    az += partial.z;
  }
  velocities[i].x += ax * dt;
  velocities[i].y += ay * dt;
  velocities[i].z += az * dt;
  if (!last) return;
  positions[i].x += velocities[i].x * dt;
  positions[i].y += velocities[i].y * dt;
  positions[i].z += velocities[i].z * dt;
}

// The kernel for launches in which no tile has equal masses, and the kernel for other launches.
using Kernels = void (*[2])(const Position*, const float*, float3*, int, int, size_t, float);
using Shape = nbody::PairShape<Kernels>;
template <int K, int kWarps>
const Shape kShape{
    K, kWarps, {partial_accelerations<false, K, kWarps>, partial_accelerations<true, K, kWarps>}};

Shape shape_for(int systems, int n) {
  std::vector<Shape> shapes{kShape<12, 2>, kShape<12, 1>, kShape<8, 1>,
                            kShape<4, 2>,  kShape<4, 1>,  kShape<2, 1>};
  std::erase_if(shapes, [](const Shape& shape) { return shape.warps < kMinWarps; });
  // A lane takes 18 slots per pair, and 8 per source to load it and to pass on its sum.
  return nbody::least_work_of_pairs(systems, n, shapes,
                                    {.pair = 18, .source = 8, .partial_sum = 1.5});
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int count = systems.count, n = systems.bodies_per_system, bodies = count * n;
  const Shape shape = shape_for(count, n);
  const int tiles = (n - 1) / shape.tile() + 1, offsets = tiles / 2 + 1;
  const int at_once = std::clamp<size_t>(kMaxBytes / (2 * sizeof(float3) * bodies), 1, offsets);
  nbody::MassOrder order(systems);  // sorts, so that whole tiles have one mass
  const std::vector<float> host_masses = nbody::masses_of_tiles(systems, shape.tile());
  const auto kernel = shape.kernel[std::ranges::max(host_masses) >= 0.0f];
  nbody::DeviceArray<Position> positions(systems.bodies.size());
  nbody::DeviceArray<Velocity> velocities(systems.bodies.size());
  nbody::DeviceArray<float> masses(host_masses.size());
  nbody::DeviceArray<float3> partials(2 * systems.bodies.size() * at_once);
  const nbody::Transfer transfer(systems.bodies);
  nbody::StageTimer timer;
  transfer.upload(positions.get(), velocities.get());
  nbody::upload(host_masses, masses);
  timer.uploaded();
  for (int step = 0; step < run.steps; ++step) {
    for (int offset = 0; offset < offsets; offset += at_once) {
      const int now = std::min(at_once, offsets - offset);
      kernel<<<dim3(count * tiles, now), 32 * shape.warps>>>(
          positions.get(), masses.get(), partials.get(), n, offset, positions.size(),
          run.softening_squared);
      update_bodies<<<(bodies - 1) / kBlockSize + 1, kBlockSize>>>(
          positions.get(), velocities.get(), partials.get(), 2 * now, bodies, run.dt,
          offset + now == offsets);
    }
    CUDA_CHECK(cudaGetLastError());  // a launch returns nothing: a bad configuration shows here
  }
  timer.computed();
  transfer.download(positions.get(), velocities.get());
  timer.downloaded();
  order.restore();
  return timer.timing();
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "step12_newton3",
                           .parent = "step11_register_blocking",
                           .summation = nbody::Summation::tiled,
                           .float64 = float64::each_pair_once::simulate,
                           .boundaries = {64, 128, 256, 384, 768}},
                          simulate, argc, argv);
}
