// A CUDA call that failed, on its way to the end of a call of the library.
#pragma once

#include "nbody.h"

namespace nbody::library {

struct CudaFailure {
  int result;  // of nbody.h
};

}  // namespace nbody::library
