// The exception that is thrown if a CUDA call fails. The library's functions catch it before they
// return.
#pragma once

#include "nbody.h"

namespace nbody::library {

struct CudaFailure {
  int result;  // a result code of nbody.h
};

}  // namespace nbody::library
