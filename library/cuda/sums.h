// Functions that compute the sums of a call, each in a file with the kernels of one step. All
// arrays are on the device and in scaled units.
#pragma once

#include "library/call.h"
#include "library/cuda/memory.h"

namespace nbody::library {

struct alignas(32) Double4 {
  double x, y, z, w;
};
template <class Real>
struct FourOf {
  using type = float4;
};
template <>
struct FourOf<double> {
  using type = Double4;
};
template <class Real>
using Four = typename FourOf<Real>::type;

// Bodies in the layout of the kernels. For separate targets, `order` holds the index of each body
// among the targets of the call.
template <class Real>
struct Bodies {
  int n;
  Four<Real>* positions;   // w: mass
  Four<Real>* velocities;  // w: 0
  const int* order;        // null: the order of the call
};

// Where the results of a call go, and what to multiply them by.
template <class Real>
struct Output {
  Real *accelerations, *potentials, *jerks;  // null: not wanted
  Factors force, potential, jerk;
  const int* is_expected;  // on the device; if it points to 0, nothing is stored
};
template <class Real>
__device__ bool is_stored(const Output<Real>& out) {
  return out.is_expected == nullptr || *out.is_expected != 0;
}

// Stores a result of body i.
template <class Real>
__device__ void store_scaled(Real* to, std::size_t i, const Factors& unit, double value) {
  if (to != nullptr) to[i] = static_cast<Real>(value * unit.first * unit.second);
}
template <class Real>
__device__ void store_vector(Real* to, std::size_t i, const Factors& unit, double x, double y,
                             double z) {
  if (to == nullptr) return;
  to[3 * i] = static_cast<Real>(x * unit.first * unit.second);
  to[3 * i + 1] = static_cast<Real>(y * unit.first * unit.second);
  to[3 * i + 2] = static_cast<Real>(z * unit.first * unit.second);
}

// Steps 12 and 13: write the accelerations that the bodies cause in each other.
//
// tile_masses has, for each tile of tile_of_pairs(n) bodies, the mass that all its bodies have, or
// -1. If it is null, the function computes these masses. If has_one_mass_tiles is false, the masses
// differ in every tile; the kernel then skips the test for equal masses, and is 3 % faster.
int tile_of_pairs(int n);
void sum_each_pair_once(const Bodies<float>& bodies, const float* tile_masses,
                        bool has_one_mass_tiles, float softening_squared, const Output<float>& out,
                        cudaStream_t stream);
void sum_in_one_kernel(const Bodies<float>& bodies, float softening_squared,
                       const Output<float>& out, cudaStream_t stream);
// Step 13, from the arrays of a call: the kernel also examines the values, chooses units and lays
// out the bodies. Returns a result of nbody.h. If it is not NBODY_OK, nothing is stored. Massless
// bodies take part in all sums. The results must not overlap the bodies, and n bodies must fit into
// the shared memory of a block.
bool fits_one_kernel(int n);
int sum_in_one_kernel(const float* positions, const float* masses, int n, double softening,
                      bool is_checked, float* accelerations, cudaStream_t stream);

// Step 11: writes the sums over sources at the targets. If `own` is true, the targets begin with
// the sources.
template <class Real, class Out>
void sum_at_targets(Quantity quantity, const Bodies<Real>& sources, const Bodies<Real>& targets,
                    bool own, Real softening_squared, const Output<Out>& out, cudaStream_t stream);

// Steps 15 and 15b: writes the accelerations or the potentials that the sources cause at the
// targets. If `own` is true, the sources are the targets.
template <class Real>
void sum_by_tree(Quantity quantity, const Bodies<float>& sources, const Bodies<float>& targets,
                 bool own, const nbody_options& options, float softening_squared,
                 const Output<Real>& out, cudaStream_t stream);

}  // namespace nbody::library
