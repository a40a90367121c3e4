// triangle_index -- each pair once on a GPU: which thread computes which pair of a triangle?
//
// A square grid of blocks is simple, but half its blocks do nothing. Navarro and Hitschfeld number
// only the triangle's blocks: block k is in row (sqrt(8 k + 1) - 1) / 2, which takes one square
// root per block. Gorawski and Lorek number the triangle's elements, with a float64 square root per
// pair.
//
// Parent: nxn_atomic.   Run: triangle_index --scenario plummer --bodies 16384
#include "experiments/one_grid.cuh"

namespace {

using one_grid::Position;
using one_grid::Velocity;

enum class Map { square, blocks, elements };
constexpr Map kMap = static_cast<Map>(TUNABLE(MAP, 1));
constexpr int kSide = 16;  // width of a block of pairs
constexpr int kBlockSize = kSide * kSide;

struct Place {
  int row, column;
};

// Finds element k of a triangle that includes its diagonal. The elements are counted row by row.
// The square root is rounded, so the computed row may be off by one.
__device__ inline Place in_triangle(long long k) {
  auto row = static_cast<long long>((sqrt(8.0 * static_cast<double>(k) + 1.0) - 1.0) / 2.0);
  while (row * (row + 1) / 2 > k) --row;
  while ((row + 1) * (row + 2) / 2 <= k) ++row;
  return {static_cast<int>(row), static_cast<int>(k - row * (row + 1) / 2)};
}

__host__ __device__ constexpr long long elements_of_triangle(long long rows) {
  return rows * (rows + 1) / 2;
}

// Returns this thread's pair (i, j). Unless j < i < n, the thread has nothing to do.
__device__ inline Place pair_of_thread() {
  if constexpr (kMap == Map::elements) {
    const Place place = in_triangle(static_cast<long long>(blockIdx.x) * kBlockSize + threadIdx.x);
    return {place.row + 1, place.column};
  }
  const int row = threadIdx.x / kSide, column = threadIdx.x % kSide;
  const Place block = kMap == Map::blocks
                          ? in_triangle(blockIdx.x)
                          : Place{static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.x)};
  return {block.row * kSide + row, block.column * kSide + column};
}

__device__ inline void add(float3& sum, float mass, float3 s) {
  atomicAdd(&sum.x, mass * s.x);
  atomicAdd(&sum.y, mass * s.y);
  atomicAdd(&sum.z, mass * s.z);
}

// Adds the two accelerations of a pair to the sums of its bodies.
__global__ void __launch_bounds__(kBlockSize)
    add_forces(const Position* __restrict__ all_positions, float3* all_sums, int n,
               float softening_squared) {
  const size_t first = static_cast<size_t>(blockIdx.z) * n;
  const auto [i, j] = pair_of_thread();
  if (i >= n || j >= i) return;
  const Position body = all_positions[first + i], other = all_positions[first + j];
  float3 s = {};
  one_grid::interact(make_float4(other.x, other.y, other.z, 1.0f), body, s, softening_squared);
  add(all_sums[first + i], other.w, s);
  add(all_sums[first + j], -body.w, s);
}

// Kicks with complete sums. Adding each term to the velocity would increase rounding errors.
__global__ void update_velocities(Velocity* velocities, float3* sums, int bodies, float dt) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= bodies) return;
  one_grid::kick(velocities[i], sums[i], dt);
  sums[i] = {};  // clears the sum for the next time step
}

dim3 grid_for(int n, int systems) {
  const auto rows = static_cast<unsigned>(one_grid::blocks_for(n, kSide));
  if (kMap == Map::square) return dim3(rows, rows, systems);
  const long long elements = elements_of_triangle(kMap == Map::blocks ? rows : n);
  const long long per_block = kMap == Map::blocks ? 1 : kBlockSize;
  return dim3(static_cast<unsigned>((elements - 1) / per_block + 1), 1, systems);
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int n = systems.bodies_per_system, bodies = static_cast<int>(systems.bodies.size());
  const dim3 grid = grid_for(n, systems.count);
  const auto sums = nbody::uploaded(std::vector<float3>(systems.bodies.size()));
  return one_grid::advance(run, systems, [&](const Position* positions, Velocity* velocities) {
    add_forces<<<grid, kBlockSize>>>(positions, sums.get(), n, run.softening_squared);
    update_velocities<<<one_grid::blocks_for(bodies, kBlockSize), kBlockSize>>>(
        velocities, sums.get(), bodies, run.dt);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "triangle_index", .parent = "nxn_atomic", .boundaries = {kSide}},
                          simulate, argc, argv);
}
