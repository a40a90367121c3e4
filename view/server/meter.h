// Measures the speed of a run. The page shows this speed, which also limits the number of time
// steps per frame.
#pragma once

#include <deque>
#include <vector>

#include "nbody/stopwatch.h"
#include "run/simulation.h"

namespace nbody::view {

// Returns the median; for an even number of values, the greater of the two values in the middle.
double median(std::vector<double> values);

class Meter {
 public:
  explicit Meter(const Systems& systems);

  // Must be called before the first call of simulate and after every call.
  void take(const Simulation& simulation);

  // Returns how many steps fit into this time at the speed of the last call, including transfers.
  // Returns at least 1.
  int steps_in(double seconds) const;
  // Returns the mean over about the last second of wall clock, including pauses; 0 if it is not
  // known yet.
  double steps_per_second() const { return rate(&Reading::wall); }
  // Returns the mean over the same time as steps_per_second(), but per second of computing, without
  // pauses.
  double interactions_per_second() const {
    return rate(&Reading::compute) * interactions_per_step_;
  }

 private:
  struct Reading {
    double wall, compute, total;  // seconds
    long long step;
  };
  // Returns the time steps per second that this clock measures.
  double rate(double Reading::*clock) const;

  double interactions_per_step_;
  Stopwatch stopwatch_;
  std::deque<Reading> readings_;
};

// Returns the number of steps per frame that the eye can follow: in these steps, a typical body
// moves by a two-hundredth of the system's size. For small systems, a computer could take many more
// steps per frame.
int watchable_steps(const Systems& systems, double dt);

}  // namespace nbody::view
