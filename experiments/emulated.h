// A mark for rates and times that no GPU has: hostcuda's.
#pragma once

#include "support/platform.h"

namespace experiments {

// What follows a printed rate or time; empty on a GPU.
inline const char* emulated_mark(const nbody::Platform& platform) {
  return platform.backend == "hostcuda" ? "; emulated on a CPU: not a GPU time" : "";
}

}  // namespace experiments
