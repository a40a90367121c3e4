// Checks a step: calls it on states of the run, and compares its results with direct sums in a
// wider float type, and with each other.
//
// Per time step, at the first state of the run and at the second-to-last state (if every body is
// checked, at all states; if the run is long, at 1,024 of them):
//   acceleration_rms   a kick of length 1 from rest turns the velocity into the acceleration,
//                      exactly; sqrt(sum |a - a_ref|^2 / sum |a_ref|^2) over the bodies
//   acceleration_p99   |a - a_ref| / sum_j |a_ij|, the 99th percentile
//   acceleration_worst the same for the worst body of a direct sum: the limit follows from how
//                      often a term is rounded on its way to the sum. This check covers the sampled
//                      bodies and the bodies whose forces change the most in body_order
//   body_order         the same bodies in motion, in another order, with other axes and other
//                      units, must have the same accelerations: finds errors that depend on a
//                      body's place in memory or in space, or on its motion, even in bodies that
//                      are not sampled
//   kick_drift         v1 = v0 + a dt and x1 = x0 + v1 dt for every body, to rounding
//   mean_kick, mean_drift
//                      the mean of v1 - v0 for kicks of similar size, and of x1 - x0 for drifts:
//                      finds errors that are too small for kick_drift because the kick is far
//                      smaller than the velocity, or the drift than the position
//   time_step          kick_drift for bodies at rest, and for bodies so fast that only the drift
//                      counts: finds an error in dt, however short dt is
// For a step with a tree of known design:
//   tree               |a - a_tree| / sum_j |a_ij| of the worst body, beyond what rounding allows:
//                      compares with the same tree in float64. If this check is made, the others
//                      count as undecided only at limits above 1; otherwise, at limits above 0.01.
//                      Step 15b's tree is known if its force tolerance is unlimited
// For a step that keeps a tree for several time steps:
//   kept_tree          some of the bodies move by a hundredth of their extent: the states after
//                      several steps with one tree, and with a new tree for each step; left out if
//                      no body can move
// For any other step that groups distant bodies, at the first state, if the limits at the requested
// angle are too wide to distinguish right from wrong:
//   rms_at_theta_0.3, p99_at_theta_0.3
//                      the first two checks at a smaller angle, with narrower limits. If these can
//                      decide, the others count as undecided only at limits above 0.5
// For a step that expands the fields of distant bodies in series:
//   series             |a - a_ref| / |a_ref| of massless bodies at two points near a heavy one,
//                      where a_ref is the sum or a series of the requested order: finds errors in
//                      single coefficients (physics/validation/series.h)
// For the run:
//   finite             no number of the end state is NaN or infinite; if one is, the other checks
//                      of the run are left out
//   composition        the run is repeated and must end in the same state: if every body is
//                      checked, step by step; otherwise up to 32 steps one by one and then in calls
//                      of 2, 4, 8, ... steps; if the run took more than ten seconds, only a random
//                      chunk of it
//   mass               no body's mass changed
//   momentum           |dP| / sum m (|v| + |a| t): this scheme conserves momentum except for
//                      rounding
//   angular_momentum   the same for the angular momentum; kick-drift conserves both, however long
//                      the time step is
//   trajectory         positions and velocities compared with the reference: RMS of the errors,
//                      each divided by the vector's length or by the median length, whichever is
//                      larger; the limit follows from how far rounding alone can displace the
//                      bodies
//
// Each check reports its worst system. A check that cannot decide (because the motion is chaotic,
// or because it takes too long to repeat the run) reports why: it neither passes silently nor fails
// a correct program.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nbody/bodies.h"
#include "nbody/step.h"
#include "physics/check.h"

namespace nbody {

// `full`: check every body and every trajectory, and repeat the run at any cost. `sampled`: check
// some bodies of every system (always the first and the last) and, if that is cheap, one
// trajectory. `automatic`: full up to about 4e8 interactions, sampled above. The caller handles
// `off`.
enum class ValidationMode { automatic, full, sampled, off };

struct Validation {
  std::vector<Check> checks;
  bool sampled = false;  // some forces were checked in every system, and at most one trajectory
  bool failed() const;
  // True if the run was too long to be repeated, and no chunk of it was repeated either.
  bool partial() const;
  // Lists "trajectory: too chaotic at this length" and the like, one for each undecided check.
  std::vector<std::string> open() const;
};

// Takes `steps` time steps of length dt, as the step does.
template <class Real>
using Advance = std::function<void(BasicSystems<Real>&, double dt, int steps)>;

// A part of a run that one call computed: time steps `first` + 1 to `first` + `steps`, with the
// states before and after these steps.
template <class Real>
struct RunChunk {
  BasicSystems<Real> start, end;
  long long first;
  int steps;
};

template <class Real>
struct ValidationInput {
  Summation summation;
  double dt;
  int steps;
  double softening_squared;
  // The states before the first step and after the last, as the kernels store them: under leapfrog,
  // positions are half a step ahead of velocities. Leapfrog's half drifts before the first step and
  // after the last are not part of a step.
  const BasicSystems<Real>& start;
  const BasicSystems<Real>& end;
  double seconds = 0;                     // duration of the run; repeating it takes as long
  Approximation approximation = {};       // allows an error in addition to rounding
  const RunChunk<Real>* chunk = nullptr;  // repeated if repeating the whole run would take too long
  std::optional<TreeDesign> tree = {};    // the tree that the step builds, if its design is known
  int largest_group = 256;                // of bodies that share a series
};

// Variants of the step under test. If a variant is not given, the checks that need it are skipped.
template <class Real>
struct Variants {
  Advance<Real> fine = {};       // the step with finer(input.approximation)
  Advance<Real> rescaled = {};   // the step with kOtherLength times the softening
  Advance<Real> by_angle = {};   // the step with by_angle(input.approximation)
  Advance<Real> by_series = {};  // the step with by_series(input.approximation)
};
inline constexpr double kOtherLength = 32;

template <class Real>
Validation validate(const ValidationInput<Real>& input, ValidationMode mode,
                    const Advance<Real>& advance, const Variants<Real>& variants = {});

// Checks sampled bodies of a run of one time step, with all checks except time_step, composition
// and trajectory. After the run, these checks call the program only twice, instead of seven times.
Validation validate_one_step(const ValidationInput<float>& input, const Advance<float>& advance,
                             const Variants<float>& variants);

// The range of tile sizes in steps with tiled sums.
inline constexpr int kSmallestTile = 32, kLargestTile = 1024;

// Returns the bound on the relative RMS error of accelerations that a step sums in float32 as
// `summation` says. The bound holds if no single interaction dominates.
double acceleration_rms_limit(Summation summation, int bodies_per_system);

}  // namespace nbody
