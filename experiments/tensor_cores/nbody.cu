// tensor_cores -- distances and sums of forces are matrix products, computed on the tensor cores.
//
// |xj - xi|^2 = |xi|^2 + |xj|^2 - 2 xi xj for 16 bodies and 8 sources is a matrix product. The sum
// sum_j w_ij mj (xj, 1), from which the forces follow, is another matrix product. Between these
// products, each pair needs a reciprocal square root and two multiplications. The second product
// takes its sources in another order, so that each lane already holds the elements of the first
// product that it needs.
//
// TF32 has 11 bits, so every factor is split into two parts. The distance of neighbours is a small
// difference of large numbers, so bodies are sorted in space, and a block measures positions from
// one of its own bodies, which makes the coordinates of nearby bodies small.
//
// Parent: step11_register_blocking.   Run: tensor_cores --scenario plummer --bodies 262144
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "experiments/tensor_cores/mma.cuh"
#include "nbody/shape.h"
#include "nbody/step.h"
#include "nbody/timeline.h"
#include "nbody/transfer.h"

#if defined(__HOSTCUDA__)
#include "experiments/tensor_cores/without_a_gpu.h"
#endif

namespace {

constexpr bool kSplit = TUNABLE(SPLIT, 1) == 1;      // true: every factor has two parts
constexpr bool kCentred = TUNABLE(CENTRED, 1) == 1;  // true: bodies sorted; one is the origin
constexpr int kBlockSize = 128;
constexpr int kTileSize = 256;  // sources in shared memory
constexpr int kRows = 16, kColumns = 8;
constexpr int kTilesPerWarp = 4;  // each tile has 16 bodies
constexpr int kUnroll = TUNABLE(UNROLL, 1);
constexpr int kBodies = kBlockSize / 32 * kTilesPerWarp * kRows;  // bodies of a block
constexpr int kMaxChunks = 64;

using Position = float4;  // w is the mass
using Velocity = float4;

int blocks_for(int bodies, int each) { return (bodies - 1) / each + 1; }

// Splits a number into two TF32 parts. held() is their sum, which has 22 of the 24 bits.
__device__ float2 parts_of(float x) {
  const float first = rounded_part(x);
  return make_float2(first, rounded_part(x - first));
}
__device__ float held(float x) {
  const float2 parts = parts_of(x);
  return parts.x + parts.y;
}

// Returns massless bodies past the end. Cuts off the bits of a coordinate that do not fit into two
// parts, because squares and products must use the same numbers.
__device__ Position load(const Position* __restrict__ positions, int j, int n, Position centre) {
  if (j >= n) return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  const Position p = __ldg(&positions[j]);
  return make_float4(held(p.x - centre.x), held(p.y - centre.y), held(p.z - centre.z), p.w);
}

__device__ float squared(Position p) { return fmaf(p.x, p.x, fmaf(p.y, p.y, p.z * p.z)); }

__device__ float component(Position p, int k) { return k == 0 ? p.x : k == 1 ? p.y : p.z; }

// A tile of sources, in the layout that the products need.
struct Tile {
  // Per source: -2 x, -2 y, -2 z and the squared length. A lane reads the element whose index is
  // the lane's index. One instruction multiplies both parts of a body by `first`, another
  // instruction multiplies them by `second`. The squared length has three parts, which are
  // multiplied by the 1 that follows the x, y and z of a body.
  float2 first[4 * kTileSize], second[4 * kTileSize];
  // Mass times x, y, z and 1: the first parts, then the second parts, for two sources side by side.
  float weighted[kTileSize / 2][kColumns][2];
};

__device__ void fill(Tile& tile, int j, Position source) {
  for (int k = 0; k < 3; ++k) {
    const auto [first, second] = parts_of(-2.0f * component(source, k));
    tile.first[4 * j + k] = make_float2(first, first);
    tile.second[4 * j + k] = make_float2(second, second);
  }
  const float square = squared(source);
  const auto [first, second] = parts_of(square);
  tile.first[4 * j + 3] = make_float2(first, second);
  tile.second[4 * j + 3] = make_float2(square - first - second, 0.0f);
  for (int k = 0; k < 4; ++k) {
    const float x = k < 3 ? source.w * component(source, k) : source.w;
    const auto [first_weighted, second_weighted] = parts_of(x);
    tile.weighted[j / 2][k][j % 2] = first_weighted;
    tile.weighted[j / 2][k + 4][j % 2] = second_weighted;
  }
}

// Stores 16 bodies of a warp. `parts` has x, y, z and 1 of each body: the first parts are in
// columns 0 to 3, the second parts in columns 4 to 7. `squares` has the bodies' softened squared
// distances from the origin.
struct Rows {
  A parts;
  C squares;
};

__device__ Rows rows_of(Position upper, Position lower, int lane, float softening_squared) {
  Rows rows{};
  const int column = lane % 4;
  for (int half = 0; half < 2; ++half) {
    const Position body = half == 0 ? upper : lower;
    const auto [first, second] = parts_of(component(body, column));
    rows.parts.e[half] = column < 3 ? first : 1.0f;
    rows.parts.e[half + 2] = column < 3 ? second : 1.0f;
    // The shuffle is a copy that the compiler does not recognise as a copy. Otherwise the compiler
    // would keep one register and, before each product, copy it into the four consecutive registers
    // that the tensor core needs.
    rows.squares.e[2 * half] = squared(body) + softening_squared;
    rows.squares.e[2 * half + 1] = __shfl_sync(0xffffffff, rows.squares.e[2 * half], lane);
  }
  return rows;
}

// sum += w (m x, m y, m z, m) for 16 bodies and 8 sources. If kDiagonal is true, a body may be
// paired with itself. That pair is left out, because its terms cancel only up to rounding. `self`
// is the index of the lane's first source minus the index of the lane's first body.
template <bool kDiagonal>
__device__ void interact(const Rows& rows, const B& near, const B& far, const B& weighted, C& sum,
                         float softening_squared, int self) {
  C distances = multiply_add(rows.parts, near, rows.squares);
  if (kSplit) distances = multiply_add(rows.parts, far, distances);
  A first, second;
  for (int k = 0; k < 4; ++k) {
    // Rounding can make the square of a distance negative.
    const float inverse_distance = rsqrtf(fmaxf(distances.e[k], softening_squared));
    float w = inverse_distance * inverse_distance * inverse_distance;
    if (kDiagonal && self + k % 2 == k / 2 * 8) w = 0.0f;
    // Element (row, 2 column + right) of the distances becomes element (row, column + 4 right) of a
    // factor, so source 2 column + right takes the place of source column + 4 right.
    const int place = k / 2 + 2 * (k % 2);
    first.e[place] = kSplit ? big_part(w) : w;
    second.e[place] = w - first.e[place];
  }
  sum = multiply_add(first, weighted, sum);
  if (kSplit) sum = multiply_add(second, weighted, sum);
}

// Pairs the bodies of a warp with a tile of sources.
template <bool kDiagonal>
__device__ void meet(const Rows (&rows)[kTilesPerWarp], const Tile& tile, C (&sum)[kTilesPerWarp],
                     float softening_squared, int self) {
  const int lane = threadIdx.x % 32, row = lane / 4, column = lane % 4;
#pragma unroll kUnroll
  for (int j = 0; j < kTileSize; j += kColumns) {
    const float(*const pair)[2] = tile.weighted[j / 2 + column];
    const float2 first = tile.first[4 * j + lane], second = tile.second[4 * j + lane];
    const B near{{first.x, first.y}}, far{{second.x, second.y}};
    const B weighted{{pair[row][0], pair[row][1]}};
    for (int k = 0; k < kTilesPerWarp; ++k) {
      interact<kDiagonal>(rows[k], near, far, weighted, sum[k], softening_squared,
                          self + j + 2 * column - k * kRows);
    }
  }
}

// Chooses an origin among the bodies of a block. The origin is the middle one of three bodies, so
// that no distant body is chosen.
__device__ float middle(float a, float b, float c) {
  return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
}
__device__ Position centre_of(const Position* __restrict__ positions, int first, int n) {
  const Position a = positions[min(first + kBodies / 4, n - 1)];
  const Position b = positions[min(first + kBodies / 2, n - 1)];
  const Position c = positions[min(first + 3 * kBodies / 4, n - 1)];
  return make_float4(middle(a.x, b.x, c.x), middle(a.y, b.y, c.y), middle(a.z, b.z, c.z), 0.0f);
}

// Writes the sums over chunk blockIdx.y of the sources to partials[chunk][i in all systems].
__global__ void __launch_bounds__(kBlockSize)
    partial_accelerations(const Position* __restrict__ all_positions, float4* __restrict__ partials,
                          int n, int chunk, size_t bodies, float softening_squared) {
  __shared__ Tile tile;
  const int blocks = (n - 1) / kBodies + 1, system = blockIdx.x / blocks;
  const int first_i = blockIdx.x % blocks * kBodies;
  const int lane = threadIdx.x % 32, row = lane / 4, column = lane % 4;
  const int first_row = first_i + threadIdx.x / 32 * kTilesPerWarp * kRows + row;
  const Position* const positions = all_positions + static_cast<size_t>(system) * n;
  const Position centre = kCentred ? centre_of(positions, first_i, n) : Position{};
  const int begin = blockIdx.y * chunk, end = min(begin + chunk, n);
  Rows rows[kTilesPerWarp];
  C total[kTilesPerWarp] = {};
  for (int k = 0; k < kTilesPerWarp; ++k) {
    const int i = first_row + k * kRows;
    rows[k] = rows_of(load(positions, i, n, centre), load(positions, i + 8, n, centre), lane,
                      softening_squared);
  }
  for (int first = begin; first < end; first += kTileSize) {
    for (int j = threadIdx.x; j < kTileSize; j += kBlockSize) {
      fill(tile, j, load(positions, first + j, n, centre));
    }
    __syncthreads();  // no thread may read the tile before it is complete
    C sum[kTilesPerWarp] = {};
    const int self = first - first_row;
    if (first < first_i + kBodies && first_i < first + kTileSize) {
      meet<true>(rows, tile, sum, softening_squared, self);
    } else {
      meet<false>(rows, tile, sum, softening_squared, self);
    }
    for (int k = 0; k < kTilesPerWarp; ++k) {
      for (int e = 0; e < 4; ++e) total[k].e[e] += sum[k].e[e];
    }
    __syncthreads();  // no thread may overwrite the tile before all have read it
  }
  // Of every four lanes, lanes 0 and 1 hold columns 0 to 3 of the sum, and lanes 2 and 3 hold the
  // second parts of these columns.
  for (int k = 0; k < kTilesPerWarp; ++k) {
    for (int half = 0; half < 2; ++half) {
      float x = total[k].e[2 * half], y = total[k].e[2 * half + 1];
      x += __shfl_xor_sync(0xffffffff, x, 2);
      y += __shfl_xor_sync(0xffffffff, y, 2);
      const float z = __shfl_xor_sync(0xffffffff, x, 1), w = __shfl_xor_sync(0xffffffff, y, 1);
      const int i = first_row + k * kRows + 8 * half;
      if (column != 2 * half || i >= n) continue;
      const Position p = load(positions, i, n, centre);
      partials[blockIdx.y * bodies + static_cast<size_t>(system) * n + i] =
          make_float4(fmaf(-p.x, w, x), fmaf(-p.y, w, y), fmaf(-p.z, w, z), 0.0f);
    }
  }
}

// Kicks and drifts all bodies.
__global__ void update_bodies(Position* __restrict__ positions, Velocity* __restrict__ velocities,
                              const float4* __restrict__ partials, int chunks, int n, float dt) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n) return;
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
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

// Sorts the bodies of every system along a curve through the cells of a grid (Morton 1966), so that
// the bodies of a block are neighbours. restore() restores the original order.
class InSpace {
 public:
  explicit InSpace(nbody::Systems& systems) : systems_(systems) {
    for (int s = 0; kCentred && s < systems.count; ++s) {
      const auto bodies = systems.system(s);
      float extent = 1e-30f;
      for (const nbody::Body& b : bodies)
        for (const float x : {b.x, b.y, b.z}) extent = std::max(extent, std::abs(x));
      std::vector<std::uint64_t> keys;
      for (const nbody::Body& b : bodies) {
        keys.push_back(spread(b.x / extent) | spread(b.y / extent) << 1 |
                       spread(b.z / extent) << 2);
      }
      std::vector<std::size_t> from(bodies.size());
      std::iota(from.begin(), from.end(), std::size_t{0});
      std::ranges::stable_sort(from, {}, [&](std::size_t k) { return keys[k]; });
      const std::vector<nbody::Body> before(bodies.begin(), bodies.end());
      for (std::size_t k = 0; k < from.size(); ++k) bodies[k] = before[from[k]];
      from_.push_back(std::move(from));
    }
  }
  void restore() {
    for (std::size_t s = 0; s < from_.size(); ++s) {
      const auto bodies = systems_.system(static_cast<int>(s));
      const std::vector<nbody::Body> sorted(bodies.begin(), bodies.end());
      for (std::size_t k = 0; k < sorted.size(); ++k) bodies[from_[s][k]] = sorted[k];
    }
  }

 private:
  // Converts a number between -1 and 1 to 16 bits with two empty bits between neighbouring bits.
  static std::uint64_t spread(float x) {
    const auto cell = static_cast<std::uint64_t>(std::clamp((x + 1) * 32768.0f, 0.0f, 65535.0f));
    std::uint64_t bits = 0;
    for (int bit = 0; bit < 16; ++bit) bits |= (cell >> bit & 1) << 3 * bit;
    return bits;
  }
  nbody::Systems& systems_;
  std::vector<std::vector<std::size_t>> from_;
};

int chunk_for(int systems, int n) {
  std::vector<int> chunks;
  for (int count = 1; count <= kMaxChunks; ++count) {
    chunks.push_back(blocks_for(n, count * kTileSize) * kTileSize);
  }
  // A thread has two pairs per source. Starting and ending a block takes as long as computing the
  // pairs of 64 sources.
  return nbody::least_work(systems, n, chunks, [&](int chunk) -> nbody::Cost {
    return {.blocks = 1.0 * systems * blocks_for(n, kBodies) * blocks_for(n, chunk),
            .slots = 2 * 8.5 * (chunk + 64),
            .side_by_side = 4};
  });
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int count = systems.count, n = systems.bodies_per_system, bodies = count * n;
  InSpace order(systems);
  const int chunk = chunk_for(count, n), chunks = blocks_for(n, chunk);
  nbody::DeviceArray<Position> positions(systems.bodies.size());
  nbody::DeviceArray<Velocity> velocities(systems.bodies.size());
  nbody::DeviceArray<float4> partials(systems.bodies.size() * chunks);
  const nbody::Transfer transfer(systems.bodies);
  nbody::StageTimer timer;
  transfer.upload(positions.get(), velocities.get());
  timer.uploaded();
  for (int step = 0; step < run.steps; ++step) {
    partial_accelerations<<<dim3(count * blocks_for(n, kBodies), chunks), kBlockSize>>>(
        positions.get(), partials.get(), n, chunk, positions.size(), run.softening_squared);
    update_bodies<<<blocks_for(bodies, kBlockSize), kBlockSize>>>(
        positions.get(), velocities.get(), partials.get(), chunks, bodies, run.dt);
    CUDA_CHECK(cudaGetLastError());
  }
  timer.computed();
  transfer.download(positions.get(), velocities.get());
  timer.downloaded();
  order.restore();
  return timer.timing();
}

}  // namespace

int main(int argc, char** argv) {
#if defined(__HOSTCUDA__)
  if (argc == 1) return nbody::run_program("tensor_cores", [] { return check_forces(simulate); });
#endif
  return nbody::step_main({.name = "tensor_cores",
                           .parent = "step11_register_blocking",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {kTileSize}},
                          simulate, argc, argv);
}
