// The truth that steps are measured against: direct sums in float64, on the CPU, no fast math.
//
//   a_i = sum_j m_j (x_j - x_i) / (|x_j - x_i|^2 + eps^2)^(3/2),  G = 1   (Plummer softening;
//   Aarseth 1963; Dehnen & Read 2011, eq. 7)
#pragma once

#include <span>
#include <vector>

#include "nbody/bodies.h"
#include "physics/vector3.h"

namespace nbody {

// Positions and velocities of one system in float64, component by component so that the compiler
// can use vector registers.
class ReferenceSystem {
 public:
  explicit ReferenceSystem(std::span<const Body> bodies);
  explicit ReferenceSystem(std::span<const BodyF64> bodies);

  int size() const { return static_cast<int>(mass_.size()); }
  Vector3 position(int i) const { return {x_[at(i)], y_[at(i)], z_[at(i)]}; }
  Vector3 velocity(int i) const { return {vx_[at(i)], vy_[at(i)], vz_[at(i)]}; }

  struct Force {
    Vector3 acceleration;
    // sum_j |a_ij|: what the acceleration would be if nothing cancelled. Rounding errors scale with
    // this, not with the acceleration, which is zero in the middle of a galaxy.
    double magnitude = 0;
  };
  Force force(int i, double softening_squared) const;
  Vector3 acceleration(int i, double softening_squared) const;

  // One kick-then-drift step, as the steps do it.
  void advance(double dt, double softening_squared);
  // x += v t
  void drift(double t);
  // Rounds the state to float32: the best a program with float32 state can do.
  void round_to_float();

 private:
  void append(const BodyF64& body);
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  std::vector<double> x_, y_, z_, vx_, vy_, vz_, mass_;
};

}  // namespace nbody
