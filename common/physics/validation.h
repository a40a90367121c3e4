// Is what a step computes right? The step itself is called on the states of the run, and what it
// makes of them is compared with direct sums in a wider float and with itself.
//
// Of the step, at the first state of the run and at the last but one:
//   acceleration_rms   one kick of length 1 from rest makes the velocity the acceleration, exactly;
//                      |a - a_ref| / |a_ref|, root mean square over bodies
//   acceleration_p99   |a - a_ref| / sum_j |a_ij|, the 99th percentile
//   acceleration_worst the same of the worst body of a direct sum: the limit follows from how often
//                      a term is rounded on its way to the sum. Of bodies that are not sampled,
//                      those that change the most in body_order
//   body_order         the same bodies in another order, moving, with other axes and units feel the
//                      same: a force that depends on the place of a body in memory or in space, or
//                      on how it moves, shows, also in bodies that are not sampled
//   kick_drift         v1 = v0 + a dt and x1 = x0 + v1 dt, every body, to rounding
//   time_step          the same for bodies at rest and for bodies so fast that their drift is all
//                      that counts: what is wrong with dt shows however short it is
// Of a step with a tree whose design is known:
//   tree               |a - a_tree| / sum_j |a_ij| of the worst body, beyond what rounding allows:
//                      the same tree in float64 finds the same forces. With it the others decide,
//                      whatever their limits
// Of another step that takes far bodies together, at the first state, if the limits at the angle
// that was asked for are too wide to tell right from wrong:
//   rms_at_theta_0.3   the first two at a smaller angle, whose limits are not. Together with them
//   p99_at_theta_0.3   the others decide, too
// Of the run:
//   finite             no number of its end is NaN or infinite; if one is, this gate alone judges
//                      the run
//   composition        the run once more, up to 32 steps one by one, a longer one then in calls of
//                      2, 4, 8, ... steps, comes to the same end; of a run that took longer than
//                      ten seconds, a chunk taken at random
//   mass               no body's mass changed
//   momentum           |dP| / sum m (|v| + |a| t): exact in this scheme but for rounding
//   angular_momentum   likewise; kick-drift conserves both whatever the time step
//   trajectory         positions against the reference, RMS over the system's extent; its limit
//                      follows from how far rounding alone leads the motion astray
//
// The worst system counts. What cannot be decided (the motion is chaotic, the run takes too long to
// be repeated) is said in words: it is neither passed in silence nor held against a right program.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nbody/bodies.h"
#include "nbody/step.h"
#include "physics/gate.h"

namespace nbody {

enum class ValidationMode { automatic, full, sampled, off };

struct Validation {
  std::vector<Gate> gates;
  bool sampled = false;  // forces on some bodies of every system; one trajectory or none
  bool failed() const;
  // The run was too long to be repeated, and no chunk of it could be.
  bool partial() const;
  // "trajectory: too chaotic at this length", one for each gate that left something open.
  std::vector<std::string> open() const;
};

// Takes `steps` time steps of length dt, as the step does.
template <class Real>
using Advance = std::function<void(BasicSystems<Real>&, double dt, int steps)>;

// A part of the run: the states between which one call took steps `first` + 1 to `first` + `steps`.
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
  // The states before the first step and after the last, as the kernels have them: for leapfrog,
  // positions half a step ahead of velocities. The two half drifts around are no work of a step.
  const BasicSystems<Real>& start;
  const BasicSystems<Real>& end;
  double seconds = 0;                     // that the run took: what it costs to repeat it
  Approximation approximation = {};       // whose error is allowed for, beside that of float32
  const RunChunk<Real>* chunk = nullptr;  // repeated where the run would take too long
  std::optional<TreeDesign> tree = {};    // the tree that approximates, if its design is known
};

// full checks every body and every trajectory and repeats the run whatever it costs; sampled checks
// some bodies of every system (always the first and the last) and one trajectory where that is
// cheap; automatic is full up to about 4e8 interactions. `off` is not for here.
//
// The step for other problems than that of the run; the checks that need one are left out without
// it.
template <class Real>
struct Variants {
  Advance<Real> fine = {};      // with finer(input.approximation)
  Advance<Real> rescaled = {};  // with kOtherLength times the softening
};
inline constexpr double kOtherLength = 32;

template <class Real>
Validation validate(const ValidationInput<Real>& input, ValidationMode mode,
                    const Advance<Real>& advance, const Variants<Real>& variants = {});

// Of a run of one step, sampled, all but time_step, composition and trajectory: two more calls of
// the step instead of seven.
Validation validate_one_step(const ValidationInput<float>& input, const Advance<float>& advance,
                             const Variants<float>& variants);

// Steps whose sums are tiled have tiles of such sizes.
inline constexpr int kSmallestTile = 32, kLargestTile = 1024;

// The bound on the relative RMS error of an acceleration in float32 for a step's way of summing,
// where no single interaction dominates.
double acceleration_rms_limit(Summation summation, int bodies_per_system);

}  // namespace nbody
