// triangular_storage -- every pair once, stored in a triangle of N (N - 1) / 2 vectors in memory.
//
// Implements the seven stages that a report of 2020 only outlines. One thread per pair finds the
// pair's row and column from a linear index by a square root, and stores (x_j - x_i) / r^3. Then
// one warp per body adds up the body's row, which is contiguous, and the body's column, which is
// not. The triangle halves the arithmetic, but 12 bytes per pair are written once and read twice.
//
// Parent: nxn_matrix.   Run: triangular_storage --scenario plummer --bodies 16384
#include <cmath>

#include "experiments/one_grid.cuh"

namespace {

using one_grid::Position;
using one_grid::Velocity;
using Index = long long;

constexpr int kBlockSize = 256, kLanes = 32;

// Returns the index where row i begins. Row i holds the pairs (i, i + 1), (i, i + 2), ...
__device__ Index row_start(Index i, Index n) { return i * (2 * n - i - 1) / 2; }

// Returns the row of pair k, the largest i with row_start(i) <= k. The square root is rounded, so
// the neighbouring rows are also tested.
__device__ int row_of(Index k, Index n) {
  const double b = 2.0 * static_cast<double>(n) - 1.0;
  Index i = static_cast<Index>((b - sqrt(b * b - 8.0 * static_cast<double>(k))) / 2.0);
  while (i > 0 && row_start(i, n) > k) --i;
  while (row_start(i + 1, n) <= k) ++i;
  return static_cast<int>(i);
}

// triangle[k] is the acceleration that body j causes on body i, without the factor m_j.
__global__ void __launch_bounds__(kBlockSize)
    compute_pairs(const Position* __restrict__ positions, float3* __restrict__ triangle, int n,
                  Index pairs, float softening_squared) {
  const Index k = static_cast<Index>(blockIdx.x) * kBlockSize + threadIdx.x;
  if (k >= pairs) return;
  const int i = row_of(k, n), j = static_cast<int>(i + 1 + k - row_start(i, n));
  Position source = positions[j];
  source.w = 1.0f;
  float3 a = {};
  one_grid::interact(source, positions[i], a, softening_squared);
  triangle[k] = a;
}

__device__ void add_scaled(float3& sum, float factor, float3 term) {
  sum.x = fmaf(factor, term.x, sum.x);
  sum.y = fmaf(factor, term.y, sum.y);
  sum.z = fmaf(factor, term.z, sum.z);
}

// Kicks one body per warp: sums the body's row and, with the opposite sign, the body's column.
__global__ void __launch_bounds__(kBlockSize)
    sum_rows(const Position* __restrict__ positions, const float3* __restrict__ triangle,
             Velocity* __restrict__ velocities, int n, float dt) {
  const int i = (blockIdx.x * kBlockSize + threadIdx.x) / kLanes, lane = threadIdx.x % kLanes;
  if (i >= n) return;
  float3 a = {};
  for (int j = i + 1 + lane; j < n; j += kLanes) {
    add_scaled(a, positions[j].w, triangle[row_start(i, n) + j - i - 1]);
  }
  for (int j = lane; j < i; j += kLanes) {
    add_scaled(a, -positions[j].w, triangle[row_start(j, n) + i - j - 1]);
  }
  for (int delta = kLanes / 2; delta > 0; delta /= 2) {
    a.x += __shfl_down_sync(0xffffffffu, a.x, delta);
    a.y += __shfl_down_sync(0xffffffffu, a.y, delta);
    a.z += __shfl_down_sync(0xffffffffu, a.z, delta);
  }
  if (lane == 0) one_grid::kick(velocities[i], a, dt);
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int n = systems.bodies_per_system;
  const Index pairs = static_cast<Index>(n) * (n - 1) / 2;
  const nbody::DeviceArray<float3> triangle(static_cast<size_t>(pairs) + 1);  // pairs may be zero
  const auto blocks = [](Index threads) { return static_cast<unsigned>(threads / kBlockSize + 1); };
  return one_grid::advance(run, systems, [&](const Position* positions, Velocity* velocities) {
    for (int system = 0; system < systems.count; ++system) {
      const size_t first = static_cast<size_t>(system) * n;
      compute_pairs<<<blocks(pairs), kBlockSize>>>(positions + first, triangle.get(), n, pairs,
                                                   run.softening_squared);
      sum_rows<<<blocks(Index{kLanes} * n), kBlockSize>>>(positions + first, triangle.get(),
                                                          velocities + first, n, run.dt);
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "triangular_storage",
                           .parent = "nxn_matrix",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {kLanes}},
                          simulate, argc, argv);
}
