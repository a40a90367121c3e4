// Judges whether a correctly computed run is also physically plausible. A program may take every
// time step right and still end with 23 times the energy, because the time step was too long.
//
//   energy           the relative change of the energy over the run, in the worst system
//   encounters       at the start and at the end: dt divided by the shortest time in which two
//                    bodies of a pair that matters to the energy move as far as they are apart
//   positions        for few bodies: how far the positions at the end of the run change if the time
//                    step is halved (in float64), and how far rounding to the run's float type
//                    changes them. If rounding changes them more than halving the time step does,
//                    shorter time steps make the result worse
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nbody/bodies.h"
#include "physics/diagnostics.h"
#include "physics/integrator.h"

namespace nbody {

template <class Real>
struct PhysicsInput {
  Integrator integrator;
  double dt;
  int steps;
  double softening;
  // States with positions and velocities at the same instant.
  const BasicSystems<Real>& start;
  const BasicSystems<Real>& end;
  // Diagnostics of each system.
  const std::vector<Diagnostics>& before;
  const std::vector<Diagnostics>& after;
};

struct Plausibility {
  enum class Word { ok, doubtful, failed };
  Word word = Word::ok;
  std::vector<std::string> reasons;  // why the run is not ok, and what to do
  std::vector<std::string> notes;    // further remarks

  std::optional<double> energy_change, energy_error;  // worst system: change, its standard error
  std::optional<double> encounter;                    // dt divided by the shortest time
  // Errors of the positions, relative to the RMS distance from the origin.
  std::optional<double> time_step_error, rounding_error;
};
const char* to_string(Plausibility::Word word);

// Returns the diagnostics of each system.
template <class Real>
std::vector<Diagnostics> diagnose_each(const BasicSystems<Real>& systems, double softening,
                                       double budget = kAllPairsBudget);

template <class Real>
Plausibility plausibility(const PhysicsInput<Real>& input);

}  // namespace nbody
