// The distribution of the force error |a - a_ref| / |a_ref| over the bodies of a step: root mean
// square, median, 99th and 99.9th percentile. Dehnen 2014 (Computational Astrophysics and Cosmology
// 1, 1, figure 3) shows such distributions for direct sums and for tree codes.
//
// So that their limits can be strict, the checks of validation.h divide an error by the sum of the
// magnitudes of all forces on a body, even though these forces partly cancel. Here the error is
// divided by the acceleration itself, because this ratio determines the error of an orbit. Bodies
// near the centre, where the acceleration is small, therefore have large errors.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "physics/reference.h"
#include "physics/validation.h"

namespace nbody {

struct ForceError {
  int bodies = 0;  // number of bodies compared
  double rms = 0, median = 0, p99 = 0, p999 = 0, max = 0;
};

// Compares the accelerations that the step computes for the state `start` with sums in a wider
// float. Takes `count` bodies, evenly spaced over all systems.
template <class Real>
ForceError force_error(const BasicSystems<Real>& start, double softening_squared, int count,
                       const Advance<Real>& advance);

// Returns `count` evenly spaced integers, the first of which is 0 and the last n - 1.
std::vector<int> evenly_spaced(int n, int count);

// Error limit for the forces of a step that groups distant bodies (nbody/step.h), relative to the
// sum of the magnitudes of the forces on a body: root mean square over the bodies of a system, and
// 99th percentile. Both limits are 0 if theta is 0. With a force tolerance, a node is opened if
// either the angle or the tolerance rejects it, so the smaller limit holds.
struct ErrorLimit {
  double rms = 0, p99 = 0;
};
ErrorLimit error_limit(const Approximation& approximation);

// Returns an approximation in which only an angle decides which nodes are opened, or nothing if
// that is so anyway, or if the nodes act through series.
std::optional<Approximation> by_angle(const Approximation& approximation);

// Returns an approximation at which nodes act through series of the same order wherever these
// converge fast, however small the given angle and tolerance are. Returns nothing if the step has
// no series, or if it opens every node.
std::optional<Approximation> by_series(const Approximation& approximation);

// Returns the approximation with an angle so small that the error limits distinguish right results
// from wrong results, or nothing if the given angle is already that small.
std::optional<Approximation> finer(const Approximation& approximation);

// --- for the checks of validation.h ---

// The limits on force errors, and the errors found.
struct ForceChecks {
  ErrorLimit approximate;  // allowed in addition to rounding
  Check rms, p99;
  Check worst;  // the worst body's error, if the step computes direct sums
};

template <class Real>
class ForceCheck {
 public:
  using Bodies = std::span<const BasicBody<Real>>;

  // `which` has the indices of the bodies to check in every system.
  ForceCheck(const ValidationInput<Real>& input, std::vector<int> which)
      : input_(input), which_(std::move(which)) {}

  double rms_limit() const;
  // Returns an upper bound for the error of a sum in Real. The bound holds for every order in which
  // the terms of a tile are added. A term is rounded once by each operation that computes it, and
  // once by each addition to a sum that contains it.
  double worst_limit() const;
  ForceChecks checks(const std::string& rms, const std::string& p99,
                     const Approximation& approximation) const {
    return {error_limit(approximation),
            {rms, 0, rms_limit()},
            {p99, 0, 4 * rms_limit()},
            {"acceleration_worst", 0, worst_limit()}};
  }
  // `kicked` holds the same bodies, with the step's accelerations as velocities. Returns how much
  // the forces on a body cancel: the sum of their magnitudes, divided by the acceleration. Both are
  // RMS values over all bodies.
  double check(ForceChecks& checks, Bodies bodies, Bodies kicked) const;
  // Checks only the bodies `which`, against the limit for the worst body.
  void check_each(Check& worst, Bodies bodies, Bodies kicked, const std::vector<int>& which) const;

  // Compares the step's forces with the forces of the same tree in float64, whose nodes are opened
  // by the angle theta. `check` gets the error
  // of the worst body, divided by the sum of the magnitudes of the forces on that body. Returns the
  // error of the float64 tree on the same scale, plus an allowance for rounding.
  ErrorLimit check_tree(Check& check, std::span<const Body> bodies, std::span<const Body> kicked,
                        float theta) const {
    return check_tree(check, bodies, kicked, theta, which_);
  }
  ErrorLimit check_tree(Check& check, std::span<const Body> bodies, std::span<const Body> kicked,
                        float theta, const std::vector<int>& which) const;

  // Returns the error of sums in float if one large term comes first and dominates (a star among
  // planetesimals): each later term is rounded to the last digit of the large term, always in the
  // same direction, and may be lost altogether. No constant bounds that loss, so this function
  // computes it. Call it only if the loss can decide a check, because it takes longer than
  // computing the forces. The loss includes forces that are too small for Real.
  ErrorLimit loss_in_sums(Bodies bodies) const;  // RMS and p99, with a margin

 private:
  using W = Wide<Real>;
  using Reference = BasicReference<W>;
  // Returns the part of an error that forces too small for Real do not explain, divided by the sum
  // of the magnitudes. NaN stays NaN.
  double worst_error(const Reference& reference, int i, W error, W magnitude) const;

  const ValidationInput<Real>& input_;
  std::vector<int> which_;
};

}  // namespace nbody
