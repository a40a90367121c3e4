// separate_mass -- position and mass are packed into one float4, or are in two arrays.
//
// One 16-byte load reads a float4, from device memory as well as from shared memory. A float3 and a
// float need four loads, because no instruction loads 12 bytes.
//
// Parent: step09_soa.   Run: separate_mass --scenario plummer --bodies 100000
#include "experiments/one_grid.cuh"

namespace {

using one_grid::Velocity;

constexpr bool kPacked = TUNABLE(PACKED, 1);
constexpr int kTileSize = TUNABLE(TILE_SIZE, 256);

// Bodies in device or shared memory, in one of two layouts.
struct Packed {
  float4* elements;
  __device__ float4 get(int j) const { return elements[j]; }
  __device__ void set(int j, float4 p) const { elements[j] = p; }
  __device__ Packed from(size_t first) const { return {elements + first}; }
};
struct Apart {
  float3* positions;
  float* masses;
  __device__ float4 get(int j) const {
    const float3 p = positions[j];
    return make_float4(p.x, p.y, p.z, masses[j]);
  }
  __device__ void set(int j, float4 p) const {
    positions[j] = make_float3(p.x, p.y, p.z);
    masses[j] = p.w;
  }
  __device__ Apart from(size_t first) const { return {positions + first, masses + first}; }
};

__device__ inline Packed tile_of(Packed) {
  __shared__ float4 elements[kTileSize];
  return {elements};
}
__device__ inline Apart tile_of(Apart) {
  __shared__ float3 positions[kTileSize];
  __shared__ float masses[kTileSize];
  return {positions, masses};
}

// Kick: v_i += a_i dt. Reads positions only, so bodies may be updated in any order.
template <class Layout>
__global__ void __launch_bounds__(kTileSize)
    update_velocities(Layout all_bodies, Velocity* all_velocities, int n, float dt,
                      float softening_squared) {
  const Layout tile = tile_of(all_bodies);
  const int blocks = one_grid::blocks_for(n, kTileSize);
  const size_t first_body = static_cast<size_t>(blockIdx.x / blocks) * n;
  const int i = blockIdx.x % blocks * kTileSize + threadIdx.x;
  const Layout bodies = all_bodies.from(first_body);
  const float4 body = i < n ? bodies.get(i) : float4{};
  float3 a = {};
  for (int first = 0; first < n; first += kTileSize) {
    const int j = first + threadIdx.x;
    tile.set(threadIdx.x, j < n ? bodies.get(j) : float4{});
    __syncthreads();  // no thread may read the tile before it is complete
    float3 tile_a = {};
#pragma unroll 8
    for (int k = 0; k < kTileSize; ++k) {
      one_grid::interact(tile.get(k), body, tile_a, softening_squared);
    }
    one_grid::add(a, tile_a);
    __syncthreads();  // no thread may overwrite the tile before all have read it
  }
  if (i < n) one_grid::kick(all_velocities[first_body + i], a, dt);
}

// Drift: x_i += v_i dt, after all forces of the step have used the old position.
template <class Layout>
__global__ void update_positions(Layout bodies, const Velocity* __restrict__ velocities, int all,
                                 float dt) {
  const int i = blockIdx.x * kTileSize + threadIdx.x;
  if (i >= all) return;
  const float4 p = bodies.get(i), v = velocities[i];
  bodies.set(i, make_float4(p.x + v.x * dt, p.y + v.y * dt, p.z + v.z * dt, p.w));
}

// Copies from one layout to another.
template <class To, class From>
__global__ void copy_bodies(To to, From from, int all) {
  const int i = blockIdx.x * kTileSize + threadIdx.x;
  if (i < all) to.set(i, from.get(i));
}

template <class Layout>
nbody::Timing simulate_in(Layout bodies, const nbody::Run& run, nbody::Systems& systems) {
  const int n = systems.bodies_per_system, all = static_cast<int>(systems.bodies.size());
  const int blocks = systems.count * one_grid::blocks_for(n, kTileSize);
  const int over_all = one_grid::blocks_for(all, kTileSize);
  const nbody::DeviceArray<float4> packed(systems.bodies.size());
  const nbody::DeviceArray<Velocity> velocities(systems.bodies.size());
  const nbody::Transfer transfer(systems.bodies);
  nbody::StageTimer timer;
  transfer.upload(packed.get(), velocities.get());
  copy_bodies<<<over_all, kTileSize>>>(bodies, Packed{packed.get()}, all);
  timer.uploaded();
  for (int step = 0; step < run.steps; ++step) {
    update_velocities<<<blocks, kTileSize>>>(bodies, velocities.get(), n, run.dt,
                                             run.softening_squared);
    update_positions<<<over_all, kTileSize>>>(bodies, velocities.get(), all, run.dt);
  }
  timer.computed();
  copy_bodies<<<over_all, kTileSize>>>(Packed{packed.get()}, bodies, all);
  CUDA_CHECK(cudaGetLastError());  // a launch returns no error; a bad configuration shows here
  transfer.download(packed.get(), velocities.get());
  timer.downloaded();
  return timer.timing();
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const size_t all = systems.bodies.size();
  if constexpr (kPacked) {
    const nbody::DeviceArray<float4> elements(all);
    return simulate_in(Packed{elements.get()}, run, systems);
  } else {
    const nbody::DeviceArray<float3> positions(all);
    const nbody::DeviceArray<float> masses(all);
    return simulate_in(Apart{positions.get(), masses.get()}, run, systems);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "separate_mass",
                           .parent = "step09_soa",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {kTileSize}},
                          simulate, argc, argv);
}
