// hostcuda: host code that needs only the API includes this name; there is one header underneath.
#ifndef HOSTCUDA_CUDA_RUNTIME_API_H
#define HOSTCUDA_CUDA_RUNTIME_API_H
#include "cuda_runtime.h"
#endif
