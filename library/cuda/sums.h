// The sums that a call combines, each in a file with the kernels of one step. All arrays are on the
// device and in scaled units.
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

// Bodies in the layout of the kernels. With separate targets, `order` says which target of the
// call each is.
template <class Real>
struct Bodies {
  int n;
  Four<Real>* positions;   // w: mass
  Four<Real>* velocities;  // w: 0
  const int* order;        // null: as in the call
};

// Where the results of a call go, and what to multiply them by.
template <class Real>
struct Output {
  Real *accelerations, *potentials, *jerks;  // null: not wanted
  double force, potential, jerk;
};

// Steps 12 and 13: set velocities, which must be zero, to the accelerations that the bodies cause
// in each other. They use positions as scratch memory; step 13 needs them twice as long.
void sum_each_pair_once(float4* positions, float4* velocities, int n, float softening_squared,
                        cudaStream_t stream);
void sum_in_one_kernel(float4* positions, float4* velocities, int n, float softening_squared,
                       cudaStream_t stream);

// Step 11: writes the sums over sources at the targets. With `own`, targets begin with the sources.
template <class Real, class Out>
void sum_at_targets(Quantity quantity, const Bodies<Real>& sources, const Bodies<Real>& targets,
                    bool own, Real softening_squared, const Output<Out>& out, cudaStream_t stream);

// Steps 15 and 15b: as steps 12 and 13, but the sources are those of the tree, and the targets may
// be others.
void sum_by_tree(const Bodies<float>& sources, const Bodies<float>& targets, bool own,
                 const nbody_options& options, float softening_squared, cudaStream_t stream);

}  // namespace nbody::library
