// The same bodies so that a program cannot know them again: in another order, with other axes and
// other units, all by exact operations. What they feel is the same but for the order of sums.
#pragma once

#include <vector>

#include "nbody/bodies.h"
#include "physics/vector3.h"
#include "physics/wide.h"

namespace nbody {

template <class Real>
class Disguise {
 public:
  // Lengths are `length` times as large, a power of two, if no number becomes too large or too
  // small for Real then; otherwise they stay.
  Disguise(const BasicSystems<Real>& systems, double softening_squared, double length);

  bool is_rescaled() const { return length_ != 1; }
  // Velocities are in the new axes, and otherwise what they were.
  BasicSystems<Real> of(const BasicSystems<Real>& systems) const;
  // From what is seen of body k of system s there: which body it is, and a velocity back in the
  // old axes.
  int system(int s) const { return count_ - 1 - s; }
  std::size_t body(std::size_t k) const { return order_[k]; }
  // Accelerations are the same in both units: masses grow as the square of lengths.
  static BasicVector3<Wide<Real>> back(const BasicVector3<Wide<Real>>& v) {
    return {-v.z, v.x, -v.y};
  }

 private:
  int count_;
  std::vector<std::size_t> order_;
  Real length_;
};

}  // namespace nbody
