// The kernels of step 12 in float64, for its option --precision double.
//
// A pair takes 20 operations in float64: three differences, three for the squared distance, six for
// the inverse cube, two for the masses and six for the sums. So an interaction takes 10, not the 17
// of register_blocking.h. A source in shared memory is split into halves of 16 bytes, because lanes
// that read 32 bytes each would use every bank twice.
#pragma once

#include <algorithm>
#include <cmath>

#include "nbody/shape.h"
#include "nbody/step.h"
#include "nbody/timeline.h"
#include "nbody/transfer.h"

namespace float64::each_pair_once {
namespace {

constexpr int kBlockSize = 128;  // threads per block of update_bodies
constexpr size_t kMaxBytes = size_t{TUNABLE(MAX_KIBIBYTES, 2 << 20)} << 10;  // for partial sums

struct alignas(32) Four {
  double x, y, z, w;  // w is the mass of a position, otherwise 0
};

struct Three {
  double x, y, z;
};

// The sources that a warp pairs with its bodies, stored twice, so that lane + s needs no remainder.
struct Slab {
  double2 xy[64], zw[64];
};

__device__ Four load(const Four* __restrict__ positions, int j, int n) {
  return j < n ? positions[j] : Four{};
}

// Estimates 1 / sqrt(x) by the instruction with which CUDA's rsqrt(double) begins. The result has
// about 20 binary digits, and the lower half of its bits is zero.
__device__ double estimate_rsqrt(double x) {
#if !defined(__HOSTCUDA__)
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  return y;
#else
  return __hiloint2double(__double2hiint(1 / sqrt(x)), 0);
#endif
}

// Returns 1 / distance^3 from an estimate y of 1 / distance. The estimate has the error
// e = 1 - distance^2 y^2, so the result is y^3 (1 - e)^(-3/2) = y^3 (1 + 3/2 e + 15/8 e^2 + ...).
// The next term, 35/16 e^3, is smaller than the rounding error of a double.
__device__ double inverse_cube(double distance_squared) {
  const double y = estimate_rsqrt(distance_squared);
  const double y_squared = y * y, cubed = y * y_squared;
  const double e = fma(-distance_squared, y_squared, 1.0);
  return fma(fma(1.875, e, 1.5), e * cubed, cubed);
}

// Pairs a source with the K bodies of a thread.
template <int K>
__device__ void interact(const Four& source, const Four (&body)[K], Three (&a)[K], Three& reaction,
                         double softening_squared) {
  for (int k = 0; k < K; ++k) {
    const double dx = source.x - body[k].x;
    const double dy = source.y - body[k].y;
    const double dz = source.z - body[k].z;
    const double cubed = inverse_cube(fma(dx, dx, fma(dy, dy, fma(dz, dz, softening_squared))));
    const double s = source.w * cubed, t = -body[k].w * cubed;
    a[k] = {fma(s, dx, a[k].x), fma(s, dy, a[k].y), fma(s, dz, a[k].z)};
    reaction = {fma(t, dx, reaction.x), fma(t, dy, reaction.y), fma(t, dz, reaction.z)};
  }
}

// Pairs 32 sources with the bodies of a warp, and returns the force on the lane's own source.
template <int K>
__device__ Three meet(const Slab& slab, const Four (&body)[K], Three (&a)[K],
                      double softening_squared) {
  const int lane = threadIdx.x % 32, next = (lane + 1) % 32;
  Three reaction = {};
#pragma unroll 2
  for (int s = 0; s < 32; ++s) {
    const double2 xy = slab.xy[lane + s], zw = slab.zw[lane + s];
    interact<K>({xy.x, xy.y, zw.x, zw.y}, body, a, reaction, softening_squared);
    reaction.x = __shfl_sync(0xffffffff, reaction.x, next);
    reaction.y = __shfl_sync(0xffffffff, reaction.y, next);
    reaction.z = __shfl_sync(0xffffffff, reaction.z, next);
  }
  return reaction;
}

// Tiles form a ring. Pairs the tile of a block (the row) with the tile `offset` ahead (the column).
// With y = blockIdx.y, partials[2 y] has the column's forces on the row's bodies, and
// partials[2 y + 1] the row's forces on the column's bodies.
// With K = 8 a thread needs 236 registers, so an SM holds 8 warps.
template <int K, int kWarps>
__global__ void __launch_bounds__(32 * kWarps, (K > 4 ? 8 : 16) / kWarps)
    partial_accelerations(const Four* __restrict__ all_positions, Three* __restrict__ partials,
                          int n, int first_offset, size_t bodies, double softening_squared) {
  constexpr int kTile = 32 * K * kWarps;
  __shared__ Slab slabs[kWarps];
  __shared__ Three column_a[kTile];
  const int tiles = (n - 1) / kTile + 1, system = blockIdx.x / tiles, row = blockIdx.x % tiles;
  const int offset = first_offset + blockIdx.y, column = (row + offset) % tiles;
  const Four* const positions = all_positions + static_cast<size_t>(system) * n;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first_i = row * kTile + warp * 32 * K + lane;
  Slab& slab = slabs[warp];
  Four body[K];
  Three a[K] = {};
  for (int k = 0; k < K; ++k) body[k] = load(positions, first_i + k * 32, n);
  for (int k = 0; k < K; ++k) column_a[k * 32 * kWarps + threadIdx.x] = {};
  __syncthreads();  // no warp may add to a sum before it is zero
  // Two tiles half the ring apart would be paired from both sides, so only one side pairs them.
  const bool paired = 2 * offset < tiles || row < column;
  for (int turn = 0; paired && turn < kWarps; ++turn) {
    for (int k = 0; k < K; ++k) {
      const int j = ((warp + turn) % kWarps * K + k) * 32 + lane;
      const Four source = load(positions, column * kTile + j, n);
      slab.xy[lane] = slab.xy[lane + 32] = {source.x, source.y};
      slab.zw[lane] = slab.zw[lane + 32] = {source.z, source.w};
      __syncwarp();  // no lane may read the slab before all of it is there
      const Three reaction = meet<K>(slab, body, a, softening_squared);
      __syncwarp();  // no lane may overwrite the slab while another still reads it
      Three& sum = column_a[j];
      sum = {sum.x + reaction.x, sum.y + reaction.y, sum.z + reaction.z};
    }
    __syncthreads();  // the next turn, or the stores below, use the sums of another warp
  }
  Three* const row_partials = partials + 2 * blockIdx.y * bodies + static_cast<size_t>(system) * n;
  for (int k = 0; k < K; ++k) {
    const int i = first_i + k * 32;
    if (i < n) row_partials[i] = a[k];
    const int of_tile = k * 32 * kWarps + threadIdx.x, j = column * kTile + of_tile;
    // In a tile paired with itself, the row's sums are complete, so the column's are not added.
    if (j < n) row_partials[bodies + j] = offset == 0 ? Three{} : column_a[of_tile];
  }
}

// Adds the partial sums in the order of the chunks, then kicks and drifts. Here a chunk of the
// sources is a tile, so each partial sum comes from one row or column.
__global__ void update_bodies(Four* __restrict__ positions, Four* __restrict__ velocities,
                              const Three* __restrict__ partials, int chunks, int n, double dt,
                              bool last) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n) return;
  double ax = 0, ay = 0, az = 0;
#pragma unroll 8
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const Three partial = partials[static_cast<size_t>(chunk) * n + i];
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

using Shape = nbody::PairShape<void (*)(const Four*, Three*, int, int, size_t, double)>;
template <int K, int kWarps>
const Shape kShape{K, kWarps, partial_accelerations<K, kWarps>};

// A pair takes 40 issue slots, because an SM has half as many float64 units as lanes.
Shape shape_for(int systems, int n) {
  const std::vector<Shape> shapes{kShape<8, 4>, kShape<8, 2>, kShape<8, 1>,
                                  kShape<4, 2>, kShape<4, 1>, kShape<2, 1>};
  return nbody::least_work_of_pairs(systems, n, shapes,
                                    {.pair = 40, .source = 20, .partial_sum = 3});
}

nbody::Timing simulate(const nbody::RunF64& run, nbody::SystemsF64& systems) {
  const int count = systems.count, n = systems.bodies_per_system, bodies = count * n;
  const Shape shape = shape_for(count, n);
  const int tiles = (n - 1) / shape.tile() + 1, offsets = tiles / 2 + 1;
  const int at_once = std::clamp<size_t>(kMaxBytes / (2 * sizeof(Three) * bodies), 1, offsets);
  nbody::DeviceArray<Four> positions(systems.bodies.size()), velocities(systems.bodies.size());
  nbody::DeviceArray<Three> partials(2 * systems.bodies.size() * at_once);
  const nbody::Transfer transfer(systems.bodies);
  nbody::StageTimer timer;
  transfer.upload(positions.get(), velocities.get());
  timer.uploaded();
  for (int step = 0; step < run.steps; ++step) {
    for (int offset = 0; offset < offsets; offset += at_once) {
      const int now = std::min(at_once, offsets - offset);
      shape.kernel<<<dim3(count * tiles, now), 32 * shape.warps>>>(
          positions.get(), partials.get(), n, offset, positions.size(), run.softening_squared);
      update_bodies<<<(bodies - 1) / kBlockSize + 1, kBlockSize>>>(
          positions.get(), velocities.get(), partials.get(), 2 * now, bodies, run.dt,
          offset + now == offsets);
    }
    CUDA_CHECK(cudaGetLastError());
  }
  timer.computed();
  transfer.download(positions.get(), velocities.get());
  timer.downloaded();
  return timer.timing();
}

}  // namespace
}  // namespace float64::each_pair_once
