#include "nbody/stopwatch.h"

#include <chrono>

namespace nbody {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace nbody
