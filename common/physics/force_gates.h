// How far a step's accelerations are from direct sums in a wider float, and how far they may be.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "physics/force_error.h"
#include "physics/reference.h"

namespace nbody {

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
