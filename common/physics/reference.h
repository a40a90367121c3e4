// The reference for all steps: direct sums on the CPU, without fast math, in a wider type than the
// state's (float64 for a float32 step, long double for --precision double). Long double has 80 bits
// on x86. On machines where long double has only 64 bits, the reference at least adds in another
// order than the step.
//
//   a_i = sum_j m_j (x_j - x_i) / (|x_j - x_i|^2 + eps^2)^(3/2),  G = 1   (Plummer softening;
//   Aarseth 1963; Dehnen & Read 2011, eq. 7)
#pragma once

#include <algorithm>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "nbody/bodies.h"
#include "physics/vector3.h"
#include "physics/wide.h"

namespace nbody {

// Returns the part of an attraction m d / s^3 that a correct program may lose because a number is
// too small for Real: all of it if m / s^3 may become zero, or 1 / s^3 in a program that multiplies
// by m last. This includes distances whose squares are too large for Real.
template <class Real, class Wide>
Wide lost_below_range(Wide mass, Wide inverse_cube, Wide distance) {
  constexpr Wide kSmallest = 4 * std::numeric_limits<Real>::min();
  const Wide attraction = mass * inverse_cube * distance;
  const bool vanishes = std::min(mass, Wide{1}) * inverse_cube < kSmallest;
  return vanishes ? attraction : std::min(attraction, kSmallest);
}

// Positions and velocities of one system, component by component so that the compiler can use
// vector registers.
template <class Wide>
class BasicReference {
 public:
  using Vector = BasicVector3<Wide>;
  using Real = Narrow<Wide>;  // the float type of the checked program

  explicit BasicReference(std::span<const Body> bodies) { fill(bodies); }
  explicit BasicReference(std::span<const BodyF64> bodies) { fill(bodies); }

  int size() const { return static_cast<int>(mass_.size()); }
  Vector position(int i) const { return {x_[at(i)], y_[at(i)], z_[at(i)]}; }
  Vector velocity(int i) const { return {vx_[at(i)], vy_[at(i)], vz_[at(i)]}; }

  // An acceleration, and the magnitudes that limit how accurately it can be summed in float.
  struct Force {
    Vector acceleration;
    // sum_j |a_ij|: the acceleration if no forces cancelled. In the middle of a galaxy the
    // acceleration is zero, so rounding errors are divided by this sum and not by the acceleration.
    Wide magnitude = 0;
    // sum_j |a_ij|^2. Errors of single interactions average out unless a few interactions dominate
    // this sum.
    Wide squares = 0;
  };
  Force force(int i, Wide softening_squared) const;
  Vector acceleration(int i, Wide softening_squared) const;
  // Returns the acceleration, computed with a square root and a division per interaction, as a
  // straightforward program would compute it.
  Vector divided_acceleration(int i, Wide softening_squared) const;
  // Returns the acceleration, summed in Real tile by tile, with the largest interaction of each
  // tile first. In this order, the other interactions of the tile lose the most digits.
  // Interactions that are too small for Real are left out.
  Vector rounded_acceleration(int i, Wide softening_squared, int tile) const;
  // Returns the sum of nbody::lost_below_range over all bodies.
  Wide lost_below_range(int i, Wide softening_squared) const;

  // Takes one time step, kick then drift, as the steps do.
  void advance(Wide dt, Wide softening_squared);
  void advance_by_division(Wide dt, Wide softening_squared);
  // Takes the same time step, but with rounded_acceleration.
  void advance_rounded(Wide dt, Wide softening_squared, int tile);
  // Drifts: x += v t.
  void drift(Wide t);
  // Takes a step with the errors that a program with a state in Real may have. Each acceleration
  // gets a random error of `error` times Force::magnitude. Then each value of the state gets a
  // random error of `rounding` times the value and is rounded to Real.
  void advance_roughly(Wide dt, Wide softening_squared, Wide error, Wide rounding,
                       std::mt19937& random);

 private:
  template <class Acceleration>
  void kick(Wide dt, const Acceleration& acceleration);
  template <class Float>
  void fill(std::span<const BasicBody<Float>> bodies);
  template <bool kWithScales, bool kDivides>
  Force sum(int i, Wide softening_squared) const;
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  std::vector<Wide> x_, y_, z_, vx_, vy_, vz_, mass_;
};
using ReferenceSystem = BasicReference<double>;

// True if a loop over the forces on this number of bodies should run on a team of threads. A team
// takes milliseconds to wake up if the cores are busy; by then, one thread has finished a shorter
// loop.
constexpr bool is_worth_a_team(int bodies) { return bodies >= 512; }

// Takes `steps` time steps in float64, with two plain loops, which --precision double also uses on
// the CPU.
void advance(SystemsF64& systems, double dt, int steps, double softening_squared);

}  // namespace nbody
