// Marks rates and times that come from hostcuda: they are not those of a GPU.
#pragma once

#include "support/platform.h"

namespace experiments {

// The mark after a printed rate or time; empty on a GPU.
inline const char* emulated_mark(const nbody::Platform& platform) {
  return platform.backend == "hostcuda" ? "; emulated on a CPU: not a GPU time" : "";
}

}  // namespace experiments
