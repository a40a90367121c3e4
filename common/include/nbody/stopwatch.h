// Wall-clock seconds since construction.
#pragma once

namespace nbody {

// Reads a monotonic clock. Not inline, because <chrono> costs nvcc half a second of compilation
// per step.
double steady_seconds();

class Stopwatch {
 public:
  double seconds() const { return steady_seconds() - start_; }

 private:
  double start_ = steady_seconds();
};

}  // namespace nbody
