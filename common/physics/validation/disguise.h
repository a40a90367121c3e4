// Rewrites a problem so that a program cannot recognise it: another order of bodies, other axes and
// other units, all by exact operations. The forces are the same, except for the order of sums.
#pragma once

#include <vector>

#include "nbody/bodies.h"
#include "physics/vector3.h"
#include "physics/wide.h"

namespace nbody {

template <class Real>
class Disguise {
 public:
  // Multiplies lengths by `length`, a power of two, unless a number would become too large or too
  // small for Real; then lengths remain unchanged.
  Disguise(const BasicSystems<Real>& systems, double softening_squared, double length);

  bool is_rescaled() const { return length_ != 1; }
  // Velocities are turned to the new axes, but not scaled.
  BasicSystems<Real> of(const BasicSystems<Real>& systems) const;
  // These functions turn the index of a system, the index of a body and the components of a vector
  // back into the indices and components of the original problem.
  int system(int s) const { return count_ - 1 - s; }
  std::size_t body(std::size_t k) const { return order_[k]; }
  // Accelerations have the same value in both systems of units, because masses are scaled by the
  // square of `length`.
  static BasicVector3<Wide<Real>> back(const BasicVector3<Wide<Real>>& v) {
    return {-v.z, v.x, -v.y};
  }

 private:
  int count_;
  std::vector<std::size_t> order_;
  Real length_;
};

}  // namespace nbody
