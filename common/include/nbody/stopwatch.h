// Wall-clock seconds since construction.
#pragma once

namespace nbody {

// On a clock that never goes back. Not inline: <chrono> takes nvcc half a second in every step.
double steady_seconds();

class Stopwatch {
 public:
  double seconds() const { return steady_seconds() - start_; }

 private:
  double start_ = steady_seconds();
};

}  // namespace nbody
