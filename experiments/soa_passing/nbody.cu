// soa_passing -- five ways to pass a structure of arrays to a kernel.
//
// The kernel receives a struct of pointers by value, the pointers as separate arguments, or a
// pointer to the struct in device memory, from which it must first load the pointers. The last two
// ways are also tried with const and __restrict__. There are no tiles, so every load of the inner
// loop uses one of the pointers, and a difference between the ways would show.
//
// Parent: step09_soa.   Run: soa_passing --systems 32 --bodies 8192 --steps 20
#include <type_traits>

#include "experiments/one_grid.cuh"

namespace {

using one_grid::Position;
using one_grid::Velocity;

enum class Passing { by_value, pointers, in_memory, restricted_pointers, restricted_in_memory };
constexpr Passing kPassing = static_cast<Passing>(TUNABLE(PASSING, 3));
constexpr int kBlockSize = 256;

struct Arrays {
  float *x, *y, *z, *mass;
};

// Used by all five ways; at(k) is body k of all systems.
template <class At>
__device__ void update_velocity(const At& at, Velocity* all_velocities, int n, float dt,
                                float softening_squared) {
  const int blocks = one_grid::blocks_for(n, kBlockSize);
  const size_t first = static_cast<size_t>(blockIdx.x / blocks) * n;
  const int i = blockIdx.x % blocks * kBlockSize + threadIdx.x;
  if (i >= n) return;
  const Position body = at(first + i);
  float3 a = {};
  for (int j = 0; j < n; ++j) one_grid::interact(at(first + j), body, a, softening_squared);
  one_grid::kick(all_velocities[first + i], a, dt);
}

// Passes a whole struct: Arrays, const Arrays* or const Arrays* __restrict__.
template <class Passed>
__global__ void __launch_bounds__(kBlockSize)
    update_velocities(Passed arrays, Velocity* velocities, int n, float dt,
                      float softening_squared) {
  const auto at = [&](size_t k) {
    if constexpr (std::is_same_v<Passed, Arrays>) {
      return make_float4(arrays.x[k], arrays.y[k], arrays.z[k], arrays.mass[k]);
    } else {
      return make_float4(arrays->x[k], arrays->y[k], arrays->z[k], arrays->mass[k]);
    }
  };
  update_velocity(at, velocities, n, dt, softening_squared);
}

// Passes the struct's members: float* or const float* __restrict__.
template <class Column>
__global__ void __launch_bounds__(kBlockSize)
    update_velocities_by(Column x, Column y, Column z, Column mass, Velocity* velocities, int n,
                         float dt, float softening_squared) {
  const auto at = [&](size_t k) { return make_float4(x[k], y[k], z[k], mass[k]); };
  update_velocity(at, velocities, n, dt, softening_squared);
}

__global__ void split(const Position* positions, Arrays arrays, int bodies) {
  const int k = blockIdx.x * kBlockSize + threadIdx.x;
  if (k >= bodies) return;
  arrays.x[k] = positions[k].x;
  arrays.y[k] = positions[k].y;
  arrays.z[k] = positions[k].z;
  arrays.mass[k] = positions[k].w;
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  using Restricted = const float* __restrict__;
  const int n = systems.bodies_per_system, bodies = static_cast<int>(systems.bodies.size());
  const int blocks = systems.count * one_grid::blocks_for(n, kBlockSize);
  const nbody::DeviceArray<float> floats(4 * systems.bodies.size());
  float* const x = floats.get();
  const Arrays arrays{x, x + bodies, x + 2 * static_cast<size_t>(bodies),
                      x + 3 * static_cast<size_t>(bodies)};
  const auto in_memory = nbody::uploaded(std::vector<Arrays>{arrays});
  return one_grid::advance(run, systems, [&](const Position* positions, Velocity* velocities) {
    split<<<one_grid::blocks_for(bodies, kBlockSize), kBlockSize>>>(positions, arrays, bodies);
    const auto kick = [&](auto kernel, auto... passed) {
      kernel<<<blocks, kBlockSize>>>(passed..., velocities, n, run.dt, run.softening_squared);
    };
    switch (kPassing) {
      case Passing::by_value:
        return kick(update_velocities<Arrays>, arrays);
      case Passing::pointers:
        return kick(update_velocities_by<float*>, arrays.x, arrays.y, arrays.z, arrays.mass);
      case Passing::in_memory:
        return kick(update_velocities<const Arrays*>, in_memory.get());
      case Passing::restricted_pointers:
        return kick(update_velocities_by<Restricted>, arrays.x, arrays.y, arrays.z, arrays.mass);
      case Passing::restricted_in_memory:
        return kick(update_velocities<const Arrays* __restrict__>, in_memory.get());
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main(
      {.name = "soa_passing", .parent = "step09_soa", .boundaries = {kBlockSize}}, simulate, argc,
      argv);
}
