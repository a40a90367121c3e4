// The exception that is thrown if a CUDA call fails, and caught where a call of the library ends.
#pragma once

#include "nbody.h"

namespace nbody::library {

struct CudaFailure {
  int result;  // of nbody.h
};

}  // namespace nbody::library
