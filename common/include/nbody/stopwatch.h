// Wall-clock seconds since construction, on a clock that never goes back.
#pragma once

#include <chrono>

namespace nbody {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace nbody
