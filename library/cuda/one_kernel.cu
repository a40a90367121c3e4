// The forces of a few thousand bodies on each other by step 13's kernel, in one time step of length
// 1 from rest, which turns a velocity into the acceleration.
#include <cooperative_groups.h>

#include <algorithm>
#include <mutex>

#include "library/cuda/sums.h"
#include "nbody/float3.h"
#include "nbody/step.h"
#include "nbody/timeline.h"
#include "nbody/transfer.h"
#include "step13_persistent/shapes.h"
#include "step13_persistent/small_systems.h"

#define main static program_of_step  // a function that nobody calls
#include "step13_persistent/nbody.cu"
#undef main

namespace {

struct Launch {
  int device = -1, n = 0;
  Shape shape = {};
  int blocks = 0;
};

// Returns the launch for n bodies. Each thread remembers its last one, because choosing it takes
// longer than a small kernel.
const Launch& launch_of(int n) {
  thread_local Launch last;
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  if (last.device == device && last.n == n) return last;
  static std::mutex mutex;  // the rule notes its choice for the records of programs
  const std::lock_guard lock(mutex);
  const Shape shape = shape_for(1, n,
                                {kShape<8, 16, 12>, kShape<4, 32, 8>, kShape<4, 16, 12>,
                                 kShape<2, 16, 12>, kShape<2, 8, 8>, kShape<1, 8, 8>});
  int per_sm = 0;
  CUDA_CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, shape.kernel, 32 * shape.warps, 0));
  const int resident = per_sm * nbody::device_attribute(cudaDevAttrMultiProcessorCount);
  last = {device, n, shape, std::min((n - 1) / shape.group + 1, resident)};
  return last;
}

}  // namespace

namespace nbody::library {

void sum_in_one_kernel(float4* positions, float4* velocities, int n, float softening_squared,
                       cudaStream_t stream) {
  const Launch& chosen = launch_of(n);
  int systems = 1, steps = 1;
  float dt = 1;
  void* arguments[] = {&positions, &velocities, &systems, &n, &steps, &dt, &softening_squared};
  CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(chosen.shape.kernel),
                                         chosen.blocks, 32 * chosen.shape.warps, arguments, 0,
                                         stream));
}

}  // namespace nbody::library
