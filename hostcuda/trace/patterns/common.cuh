// Shared by the access patterns: sizes, and the structs whose members the kernels access.
#pragma once

#include <cuda_runtime.h>

namespace patterns {

constexpr int kBlockSize = 256;
constexpr int kThreads = 4 * kBlockSize;
constexpr int kSide = 128;  // width of the square matrices
constexpr int kWarp = 32;

struct Triple {
  float x, y, z;
};
struct Quad {
  float x, y, z, w;
};
struct Seven {  // a body: position, velocity, mass
  float x, y, z, vx, vy, vz, mass;
};

__device__ int thread_in_grid() { return blockIdx.x * blockDim.x + threadIdx.x; }

}  // namespace patterns
