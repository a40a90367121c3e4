// How the errors of a step's forces are distributed: |a - a_ref| / |a_ref| of single bodies, by
// their root mean square, median, 99th percentile and 99.9th, as Dehnen 2014 (Computational
// Astrophysics and Cosmology 1, 1, figure 3) shows those of direct sums and of tree codes.
//
// The gates of validation.h compare with what cancels in a force, so that they can be strict; here
// a body in the centre, where the acceleration is small, counts with the error that its orbit sees.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "physics/validation.h"

namespace nbody {

struct ForceError {
  int bodies = 0;  // that were compared
  double rms = 0, median = 0, p99 = 0, p999 = 0, max = 0;
};

// Of `count` bodies, evenly spaced over those of all systems: the step's accelerations at the state
// `start` against sums in a wider float.
template <class Real>
ForceError force_error(const BasicSystems<Real>& start, double softening_squared, int count,
                       const Advance<Real>& advance);

// `count` numbers below n, the first and the last among them.
std::vector<int> evenly_spaced(int n, int count);

// What the forces of a step may err by that takes far bodies together (nbody/step.h).
//
// Relative to what the forces on a body would add up to if nothing cancelled: the root mean square
// over the bodies of a system, and the 99th percentile. Both are 0 where theta is 0. With a force
// tolerance nodes are opened for either reason, and the smaller limit holds.
struct ErrorLimit {
  double rms = 0, p99 = 0;
};
ErrorLimit error_limit(const Approximation& approximation);

// The same with an opening angle whose limit tells right from wrong; nothing where this one's does.
std::optional<Approximation> finer(const Approximation& approximation);

// --- the gates of validation.h ---

// What a force may err by, and how much it does.
struct ForceGates {
  ErrorLimit approximate;  // besides rounding
  Gate rms, p99;
};

template <class Real>
class ForceCheck {
 public:
  using Bodies = std::span<const BasicBody<Real>>;

  // Of these bodies of every system.
  ForceCheck(const ValidationInput<Real>& input, std::vector<int> which)
      : input_(input), which_(std::move(which)) {}

  double rms_limit() const;
  ForceGates gates(const std::string& rms, const std::string& p99,
                   const Approximation& approximation) const {
    return {error_limit(approximation), {rms, 0, rms_limit()}, {p99, 0, 4 * rms_limit()}};
  }
  // `kicked`: the bodies of one system with the step's accelerations for velocities.
  void check(ForceGates& gates, Bodies bodies, Bodies kicked) const;

  // Against the tree in float64, relative to what the forces would add up to: the worst body.
  // Returns that tree's own error on the same scale, with what rounding may add.
  ErrorLimit check_tree(Gate& gate, std::span<const Body> bodies,
                        std::span<const Body> kicked) const;

  // A sum that one interaction rules from its start (a star among planetesimals) rounds each of the
  // others to the digits of the large one, all the same way: they can be lost altogether. No
  // constant is a limit for that. What such sums lose is found out where it matters: that takes
  // longer than the forces.
  ErrorLimit loss_in_sums(Bodies bodies) const;  // on the scales of the two gates, with room

 private:
  const ValidationInput<Real>& input_;
  std::vector<int> which_;
};

}  // namespace nbody
