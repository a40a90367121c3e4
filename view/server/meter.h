// How fast a run goes: for the page, and to find how many steps fit into a frame.
#pragma once

#include <deque>

#include "nbody/stopwatch.h"
#include "run/simulation.h"

namespace nbody::view {

class Meter {
 public:
  // N^2 for every system.
  explicit Meter(const Systems& systems);

  // After every piece of the run, and once before the first.
  void take(const Simulation& simulation);

  // From the last piece, transfers included; at least 1.
  int steps_in(double seconds) const;
  // Over the last second or so of wall clock, pauses included; 0: not known yet.
  double steps_per_second() const;
  // Over the same pieces, while computing.
  double interactions_per_second() const;

 private:
  struct Reading {
    double wall, compute, total;  // seconds
    long long step;
  };
  double interactions_per_step_;
  Stopwatch stopwatch_;
  std::deque<Reading> readings_;
};

// So many steps that a typical body crosses a two-hundredth of the system in a frame: light systems
// could be computed far faster than an eye can follow.
int watchable_steps(const Systems& systems, double dt);

}  // namespace nbody::view
