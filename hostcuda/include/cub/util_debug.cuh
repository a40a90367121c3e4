// hostcuda: CubDebug and CubDebugExit, which report CUDA errors.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "../cuda_runtime.h"

namespace cub {
inline cudaError_t Debug(cudaError_t error, const char* file, int line) {
  if (error)
    std::fprintf(stderr, "CUDA error %d [%s, %d]: %s\n", static_cast<int>(error), file, line,
                 cudaGetErrorString(error));
  return error;
}
}  // namespace cub

#define CubDebug(e) cub::Debug((e), __FILE__, __LINE__)
#define CubDebugExit(e)                                               \
  do {                                                                \
    if (cub::Debug((e), __FILE__, __LINE__)) std::exit(EXIT_FAILURE); \
  } while (0)
