// vector_types -- positions are four floats, two float2 or one float4.
//
// A variable of a vector type uses the same registers as separate floats. In memory the types
// differ: one instruction loads a float4, which is aligned to 16 bytes, but four floats take four
// instructions.
//
// Parent: step09_soa.   Run: vector_types --systems 32 --bodies 8192 --steps 20
#include "experiments/one_grid.cuh"

namespace {

using one_grid::Velocity;

enum class Type { floats, two_float2, one_float4 };
constexpr Type kType = static_cast<Type>(TUNABLE(TYPE, 2));
constexpr int kTileSize = 256;

struct Floats {
  float x, y, z, w;
};
struct TwoFloat2 {
  float2 xy, zw;
};

__device__ inline float4 as_float4(float4 p) { return p; }
__device__ inline float4 as_float4(Floats p) { return make_float4(p.x, p.y, p.z, p.w); }
__device__ inline float4 as_float4(TwoFloat2 p) {
  return make_float4(p.xy.x, p.xy.y, p.zw.x, p.zw.y);
}

// Kick: v_i += a_i dt. Reads positions only, so bodies may be updated in any order.
template <class Element>
__global__ void __launch_bounds__(kTileSize)
    update_velocities(const Element* __restrict__ all_positions, Velocity* all_velocities, int n,
                      float dt, float softening_squared) {
  __shared__ Element tile[kTileSize];
  const int blocks = one_grid::blocks_for(n, kTileSize);
  const size_t first_body = static_cast<size_t>(blockIdx.x / blocks) * n;
  const int i = blockIdx.x % blocks * kTileSize + threadIdx.x;
  const Element* const positions = all_positions + first_body;
  const float4 body = i < n ? as_float4(positions[i]) : float4{};
  float3 a = {};
  for (int first = 0; first < n; first += kTileSize) {
    const int j = first + threadIdx.x;
    tile[threadIdx.x] = j < n ? positions[j] : Element{};
    __syncthreads();  // no thread may read the tile before it is complete
    float3 tile_a = {};
#pragma unroll 8
    for (int k = 0; k < kTileSize; ++k) {
      one_grid::interact(as_float4(tile[k]), body, tile_a, softening_squared);
    }
    one_grid::add(a, tile_a);
    __syncthreads();  // no thread may overwrite the tile before all have read it
  }
  if (i < n) one_grid::kick(all_velocities[first_body + i], a, dt);
}

template <class Element>
nbody::Timing simulate_with(const nbody::Run& run, nbody::Systems& systems) {
  const int n = systems.bodies_per_system;
  const int blocks = systems.count * one_grid::blocks_for(n, kTileSize);
  return one_grid::advance(run, systems, [&](const float4* positions, Velocity* velocities) {
    // Reinterprets the same 16 bytes as another type.
    update_velocities<<<blocks, kTileSize>>>(reinterpret_cast<const Element*>(positions),
                                             velocities, n, run.dt, run.softening_squared);
  });
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  if constexpr (kType == Type::floats) return simulate_with<Floats>(run, systems);
  if constexpr (kType == Type::two_float2) return simulate_with<TwoFloat2>(run, systems);
  return simulate_with<float4>(run, systems);
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "vector_types",
                           .parent = "step09_soa",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {kTileSize}},
                          simulate, argc, argv);
}
