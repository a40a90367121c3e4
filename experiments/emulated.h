// Marks rates and times that hostcuda produced, because they say nothing about a GPU.
#pragma once

#include "support/platform.h"

namespace experiments {

// Returns the text that follows a printed rate or time. The text is empty on a GPU.
inline const char* emulated_mark(const nbody::Platform& platform) {
  return platform.backend == "hostcuda" ? "; emulated on a CPU: not a GPU time" : "";
}

}  // namespace experiments
