// nxn_matrix -- a thread per pair writes the pair's force to a matrix, whose rows are then summed.
//
// One warp computes each sum, and adds the terms in a fixed order. The cost is the matrix: 12 bytes
// per pair, written once and read once. The matrix has as many rows as fit into 1 GiB. If there are
// more bodies, they are processed in groups.
//
// Parent: nxn_atomic.   Run: nxn_matrix --scenario plummer --bodies 4096
#include <algorithm>

#include "experiments/one_grid.cuh"

namespace {

using one_grid::Position;
using one_grid::Velocity;

constexpr int kColumns = 32, kRows = 8;  // threads in a block of pairs
constexpr size_t kMaxBytes = size_t{1} << 30;

// pairs[row][j] is the acceleration that body j causes on body first_i + row of the same system.
__global__ void __launch_bounds__(kColumns* kRows)
    compute_pairs(const Position* __restrict__ all_positions, float3* __restrict__ pairs,
                  int first_i, int end_i, int n, float softening_squared) {
  const int j = blockIdx.x * kColumns + threadIdx.x;
  const int row = blockIdx.y * kRows + threadIdx.y, i = first_i + row;
  if (i >= end_i || j >= n) return;
  const Position* const positions = all_positions + static_cast<size_t>(i / n) * n;
  float3 a = {};
  one_grid::interact(positions[j], all_positions[i], a, softening_squared);
  pairs[static_cast<size_t>(row) * n + j] = a;
}

// Kicks each body. One warp sums each row.
__global__ void __launch_bounds__(kColumns* kRows)
    sum_rows(const float3* __restrict__ pairs, Velocity* __restrict__ velocities, int first_i,
             int end_i, int n, float dt) {
  const int row = blockIdx.x * kRows + threadIdx.y, i = first_i + row;
  if (i >= end_i) return;
  float3 a = {};
  for (int j = threadIdx.x; j < n; j += kColumns) {
    one_grid::add(a, pairs[static_cast<size_t>(row) * n + j]);
  }
  for (int delta = kColumns / 2; delta > 0; delta /= 2) {
    a.x += __shfl_down_sync(0xffffffffu, a.x, delta);
    a.y += __shfl_down_sync(0xffffffffu, a.y, delta);
    a.z += __shfl_down_sync(0xffffffffu, a.z, delta);
  }
  if (threadIdx.x == 0) one_grid::kick(velocities[i], a, dt);
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int n = systems.bodies_per_system, bodies = static_cast<int>(systems.bodies.size());
  // A grid has at most 65,535 blocks along y, which also limits the number of rows.
  const size_t fit = std::min<size_t>(kMaxBytes / (sizeof(float3) * n), 65535 * kRows);
  const int rows = static_cast<int>(std::clamp<size_t>(fit, 1, bodies));
  const nbody::DeviceArray<float3> pairs(static_cast<size_t>(rows) * n);
  const dim3 block(kColumns, kRows);
  return one_grid::advance(run, systems, [&](const Position* positions, Velocity* velocities) {
    for (int first = 0; first < bodies; first += rows) {
      const int end = std::min(first + rows, bodies);
      const int down = one_grid::blocks_for(end - first, kRows);
      compute_pairs<<<dim3(one_grid::blocks_for(n, kColumns), down), block>>>(
          positions, pairs.get(), first, end, n, run.softening_squared);
      sum_rows<<<down, block>>>(pairs.get(), velocities, first, end, n, run.dt);
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "nxn_matrix",
                           .parent = "nxn_atomic",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {kRows, kColumns}},
                          simulate, argc, argv);
}
