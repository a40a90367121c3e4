// Stores the results of a walk through the tree.
#pragma once

#include "library/cuda/sums.h"

namespace nbody::library {

// Takes the place of step 15b's KickAndDrift.
template <class Real>
struct Store {
  const int* order;  // the index of each target in the call; null: the order of the call
  Output<Real> out;

  __device__ std::size_t place(int k) const { return order != nullptr ? order[k] : k; }
  // Stores the acceleration of target k.
  __device__ void operator()(int k, float3 a, float /*mass*/) const {
    if (is_stored(out)) store_vector(out.accelerations, place(k), out.force, a.x, a.y, a.z);
  }
  __device__ void potential(int k, float phi) const {
    if (is_stored(out)) store_scaled(out.potentials, place(k), out.potential, phi);
  }
};

}  // namespace nbody::library
