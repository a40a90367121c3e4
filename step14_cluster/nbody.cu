// step14_cluster -- one rank per GPU: distributes systems, or one system's bodies, over a cluster.
//
// Every rank keeps a part of the bodies, and gets the positions of all others in every step. Pairs
// across ranks are also computed once: sums of forces go back to the rank that keeps the bodies.
// The order of the additions does not depend on the number of ranks, so the bits of the result do
// not depend on it either.
//
// Parent: step12_newton3.   Run: mpirun -n 4 step14_cluster --scenario plummer --bodies 1048576
#include <cmath>

#include "nbody/shape.h"
#include "nbody/timeline.h"
#include "step14_cluster/pairs.h"
#include "step14_cluster/share.h"

namespace {

// Returns a massless body for an index past the end, so that every tile is full for any N.
__device__ Position load(const Position* __restrict__ positions, int j, int n) {
  return j < n ? __ldg(&positions[j]) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
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

// Pairs two segments of tiles, a row and a column (plan.h); each block pairs one tile of each.
// With y = blockIdx.y, partials[2 y][column's tile][row's body] is the force of that tile on the
// row's body, and partials[2 y + 1][row's tile][column's body] is the force in the other direction.
template <int K, int kWarps>
__global__ void __launch_bounds__(32 * kWarps, nbody::resident_blocks((K > 8 ? 16 : 20) / kWarps))
    partial_accelerations(const Position* __restrict__ all_positions,
                          const float* __restrict__ tile_mass, float3* __restrict__ partials,
                          const plan::Unit* __restrict__ units, int tiles,
                          float softening_squared) {
  constexpr int kTile = 32 * K * kWarps;
  __shared__ Position slabs[kWarps][64];
  __shared__ float3 column_a[kTile];
  const plan::Unit unit = units[blockIdx.y];
  const int row = blockIdx.x / tiles, column = blockIdx.x % tiles, n = tiles * kTile;
  const bool itself = unit.row == unit.column;  // if so, half of the tile pairs suffice
  if (row >= unit.row_tiles || column >= unit.column_tiles || (itself && column < row)) return;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first_i = row * kTile + warp * 32 * K + lane;
  Position body[K];
  float3 a[K] = {};
  for (int k = 0; k < K; ++k) body[k] = load(all_positions + unit.row, first_i + k * 32, n);
  for (int k = 0; k < K; ++k) column_a[k * 32 * kWarps + threadIdx.x] = {};
  __syncthreads();  // no warp may add to a sum before it is zero
  const float row_mass = tile_mass[unit.row / kTile + row];
  const float column_mass = tile_mass[unit.column / kTile + column];
  const bool one_mass = row_mass >= 0.0f && column_mass >= 0.0f;
  const Position* const positions = all_positions + unit.column;
  const int first = column * kTile;
  if (one_mass) {
    meet_column<true, K, kWarps>(positions, first, n, body, a, slabs[warp], column_a,
                                 softening_squared);
  } else {
    meet_column<false, K, kWarps>(positions, first, n, body, a, slabs[warp], column_a,
                                  softening_squared);
  }
  const float on_row = one_mass ? column_mass : 1.0f;
  // In a tile paired with itself, the row's sums are complete, so the column's are not added.
  const float on_column = itself && row == column ? 0.0f : one_mass ? row_mass : 1.0f;
  const size_t bodies = n;
  float3* const row_partials = partials + (2 * blockIdx.y * tiles + column) * bodies;
  float3* const column_partials = partials + ((2 * blockIdx.y + 1) * tiles + row) * bodies;
  for (int k = 0; k < K; ++k) {
    const int i = first_i + k * 32;
    row_partials[i] = on_row * a[k];
    const int of_tile = k * 32 * kWarps + threadIdx.x, j = column * kTile + of_tile;
    column_partials[j] = on_column * column_a[of_tile];
  }
}

// Adds the sums over the system's segments in the order of the segments, then kicks and drifts
// (v_i += a_i dt, x_i += v_i dt) the bodies that this rank keeps.
__global__ void update_bodies(Position* __restrict__ positions, Velocity* __restrict__ velocities,
                              const float3* __restrict__ sums, const int* __restrict__ slots,
                              Kept kept, int segments, float dt) {
  const size_t i = static_cast<size_t>(blockIdx.x) * kBlockSize + threadIdx.x;
  if (kept.body(i) < 0) return;
  const size_t segment = i / kept.segment, in_segment = i % kept.segment;
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int other = 0; other < segments; ++other) {
    const float3 sum = sums[slots[segment * segments + other] * kept.segment + in_segment];
    ax += sum.x;
    ay += sum.y;
    az += sum.z;
  }
  velocities[i].x += ax * dt;
  velocities[i].y += ay * dt;
  velocities[i].z += az * dt;
  positions[i].x += velocities[i].x * dt;
  positions[i].y += velocities[i].y * dt;
  positions[i].z += velocities[i].z * dt;
}

using Shape = nbody::PairShape<void (*)(const Position*, const float*, float3*, const plan::Unit*,
                                        int, float)>;
template <int K, int kWarps>
const Shape kShape{K, kWarps, partial_accelerations<K, kWarps>};

// Chooses as step 12 does, but as if there were only one rank, because the bits must not depend on
// the number of ranks.
Shape shape_for(int systems, int n) {
  const std::vector<Shape> shapes{kShape<12, 2>, kShape<12, 1>, kShape<8, 1>,
                                  kShape<4, 2>,  kShape<4, 1>,  kShape<2, 1>};
  return nbody::least_work_of_pairs(systems, n, shapes,
                                    {.pair = 18, .source = 8, .partial_sum = 1.5});
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  nbody::Cluster& cluster = nbody::cluster();
  const Shape shape = shape_for(systems.count, systems.bodies_per_system);
  Share& share = share_of(cluster, systems, shape.tile());
  const plan::Plan& plan = share.plan;
  nbody::StageTimer timer;
  auto order = share.take(systems);
  timer.uploaded();
  for (int step = 0; step < run.steps; ++step) {
    for (const Group& group : share.groups) {
      for (size_t unit = group.first_unit; unit < group.end_unit; unit += share.at_once) {
        const plan::Unit* const first = share.units.get() + unit;
        const unsigned now = std::min(share.at_once, group.end_unit - unit);
        shape.kernel<<<dim3(plan.tiles * plan.tiles, now), 32 * shape.warps, 0, group.stream>>>(
            share.positions.get(), share.masses.get(), group.partials, first, plan.tiles,
            run.softening_squared);
        add_tiles<<<dim3((plan.segment - 1) / kBlockSize + 1, now, 2), kBlockSize, 0,
                    group.stream>>>(group.partials, share.sums.get(), first, plan.tiles,
                                    plan.segment);
      }
      if (!plan.by_systems) cluster.exchange(share.sent, share.received);
      update_bodies<<<(group.kept.count - 1) / kBlockSize + 1, kBlockSize, 0, group.stream>>>(
          group.positions, group.velocities, share.sums.get(), group.slots, group.kept,
          plan.segments, run.dt);
      if (!plan.by_systems) cluster.all_gather(share.positions.get(), share.bytes_of_own());
      CUDA_CHECK(cudaGetLastError());  // a launch returns nothing: a bad configuration shows here
    }
  }
  timer.computed();
  share.give_back(systems.bodies);
  timer.downloaded();
  if (order) order->restore();
  return timer.timing();
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::cluster_main({.name = "step14_cluster",
                              .parent = "step12_newton3",
                              .summation = nbody::Summation::tiled,
                              .boundaries = {64, 128, 256, 384, 768}},
                             simulate, argc, argv);
}
