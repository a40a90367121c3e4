// bank_conflicts -- two-dimensional blocks of threads, built step by step as in a project report.
//
// A block has `length` x `width` threads. Threads with the same y sum the forces on the same body,
// each over kFactor of the sources that the block has loaded into shared memory. If `length`
// exceeds 1, the threads of a warp read several sources at once. Sources that are kFactor apart lie
// in the same banks and are read one by one; adjacent sources are read together.
//
// Parent: step10_tiled2d_cublas.   Run: bank_conflicts --scenario plummer --bodies 100000
#include "experiments/one_grid.cuh"
#include "nbody/cublas.h"

namespace {

using one_grid::Position;
using one_grid::Velocity;

enum class Adding { row_by_thread, row_by_warp, by_cublas };
constexpr int kLength = TUNABLE(LENGTH, 4), kWidth = TUNABLE(WIDTH, 256);
constexpr int kFactor = TUNABLE(FACTOR, 256);     // sources per thread
constexpr bool kRsqrt = TUNABLE(RSQRT, 1);        // false: divides by a square root
constexpr bool kShared = TUNABLE(SHARED, 1);      // false: sources come from global memory
constexpr bool kVolatile = TUNABLE(VOLATILE, 0);  // the counter of the filling loop is volatile
constexpr bool kSideBySide = TUNABLE(SIDE_BY_SIDE, 1);    // order of reads from shared memory
constexpr int kWrites = TUNABLE(WRITES_SIDE_BY_SIDE, 2);  // order of writes; 2: like reads
constexpr bool kWritesSideBySide = kWrites == 2 ? kSideBySide : kWrites == 1;
constexpr Adding kAdding = static_cast<Adding>(TUNABLE(ADDING, 2));
constexpr int kSources = kLength * kFactor;  // sources that a block loads
constexpr int kThreads = kLength * kWidth;
constexpr int kLoads = (kSources - 1) / kThreads + 1;  // loads per thread
constexpr int kLanes = 32, kRows = 8;                  // shape of a block that adds partial sums

__device__ inline void interact_slowly(Position source, Position body, float3& a,
                                       float softening_squared) {
  const float dx = source.x - body.x;
  const float dy = source.y - body.y;
  const float dz = source.z - body.z;
  const float distance_squared = dx * dx + dy * dy + dz * dz + softening_squared;
  const float inverse_distance = 1.0f / sqrtf(distance_squared);
  const float s = source.w * inverse_distance * inverse_distance * inverse_distance;
  a.x += s * dx;
  a.y += s * dy;
  a.z += s * dz;
}

// Returns the index of partial sum `part` of body `of_all`. For cuBLAS, the sums with the same
// `part` are adjacent, one for each body. For our kernels, all sums of one body are adjacent.
__device__ size_t place(int part, size_t of_all, int parts, size_t all) {
  return kAdding == Adding::by_cublas ? part * all + of_all : of_all * parts + part;
}

template <class Counter>
__device__ void load_sources(const Position* __restrict__ positions, int first, int n,
                             Position* sources) {
  const int thread = threadIdx.y * kLength + threadIdx.x;
  Counter k = 0;
  while (k < kLoads) {
    const int j = kWritesSideBySide ? k * kThreads + thread : thread * kLoads + k;
    if (j < kSources) sources[j] = one_grid::load(positions, first + j, n);
    k = k + 1;
  }
}

// Each thread computes the part of a_i that kFactor sources contribute.
__global__ void __launch_bounds__(kThreads)
    partial_accelerations(const Position* __restrict__ all_positions, float4* __restrict__ partials,
                          int n, size_t all, float softening_squared) {
  __shared__ Position sources[kShared ? kSources : 1];
  const size_t first_body = static_cast<size_t>(blockIdx.z) * n;
  const Position* const positions = all_positions + first_body;
  const int first = blockIdx.x * kSources;
  const int i = blockIdx.y * kWidth + threadIdx.y;
  if constexpr (kShared) {
    if constexpr (kVolatile) {
      load_sources<volatile int>(positions, first, n, sources);
    } else {
      load_sources<int>(positions, first, n, sources);
    }
    __syncthreads();  // no thread may read the sources before all of them are written
  }
  if (i >= n) return;
  const Position body = positions[i];
  float3 a = {};
#pragma unroll 8
  for (int k = 0; k < kFactor; ++k) {
    const int j = kSideBySide ? k * kLength + threadIdx.x : threadIdx.x * kFactor + k;
    const Position source = kShared ? sources[j] : one_grid::load(positions, first + j, n);
    if constexpr (kRsqrt) {
      one_grid::interact(source, body, a, softening_squared);
    } else {
      interact_slowly(source, body, a, softening_squared);
    }
  }
  const int part = blockIdx.x * kLength + threadIdx.x, parts = gridDim.x * kLength;
  partials[place(part, first_body + i, parts, all)] = make_float4(a.x, a.y, a.z, 0.0f);
}

// Kicks the bodies, with one thread per body.
__global__ void add_by_thread(const float4* __restrict__ partials, Velocity* velocities, int parts,
                              size_t all, float dt) {
  const size_t i = static_cast<size_t>(blockIdx.x) * kLanes * kRows + threadIdx.x;
  if (i >= all) return;
  float3 a = {};
  for (int part = 0; part < parts; ++part) {
    const float4 term = partials[i * parts + part];
    one_grid::add(a, make_float3(term.x, term.y, term.z));
  }
  one_grid::kick(velocities[i], a, dt);
}

// Kicks the bodies. One warp per body adds the parts in a tree.
__global__ void add_by_warp(const float4* __restrict__ partials, Velocity* velocities, int parts,
                            size_t all, float dt) {
  const size_t i = static_cast<size_t>(blockIdx.x) * kRows + threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  if (i >= all) return;
  float3 a = {};
  for (int part = lane; part < parts; part += kLanes) {
    const float4 term = partials[i * parts + part];
    one_grid::add(a, make_float3(term.x, term.y, term.z));
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
  const int across = one_grid::blocks_for(n, kSources), parts = across * kLength;
  const size_t all = systems.bodies.size();
  const nbody::DeviceArray<float4> partials(all * parts);
  const int rows = nbody::cublas_size(4 * all);
  const nbody::Cublas cublas;
  const auto ones = nbody::uploaded(std::vector<float>(parts, 1.0f));
  const dim3 grid(across, one_grid::blocks_for(n, kWidth), systems.count);
  return one_grid::advance(run, systems, [&](const Position* positions, Velocity* velocities) {
    partial_accelerations<<<grid, dim3(kLength, kWidth)>>>(positions, partials.get(), n, all,
                                                           run.softening_squared);
    CUDA_CHECK(cudaGetLastError());  // a launch returns no error; a bad configuration shows here
    if (kAdding == Adding::by_cublas) {
      const float one = 1.0f;
      CUBLAS_CHECK(cublasSgemv(cublas.get(), CUBLAS_OP_N, rows, parts, &run.dt, &partials.get()->x,
                               rows, ones.get(), 1, &one, &velocities->x, 1));
    } else if (kAdding == Adding::row_by_thread) {
      const int blocks = one_grid::blocks_for(static_cast<int>(all), kLanes * kRows);
      add_by_thread<<<blocks, kLanes * kRows>>>(partials.get(), velocities, parts, all, run.dt);
    } else {
      const int blocks = one_grid::blocks_for(static_cast<int>(all), kRows);
      add_by_warp<<<blocks, kLanes * kRows>>>(partials.get(), velocities, parts, all, run.dt);
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "bank_conflicts",
                           .parent = "step10_tiled2d_cublas",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {kWidth, kSources}},
                          simulate, argc, argv);
}
