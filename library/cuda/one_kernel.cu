// Computes the forces of a few thousand bodies on each other, with the sums of step 13's kernel. A
// single time step is enough, so the kernel needs no barrier and stores the accelerations at once.
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

// Works like a time step of advance(), for one system. A block has one group of bodies.
template <int K, int kLanes, int kWarps>
__global__ void __launch_bounds__(32 * kWarps, 1)
    accelerations(const Position* positions, int n, float softening_squared,
                  const int* __restrict__ order, nbody::library::Output<float> out) {
  constexpr int kGroup = K * kLanes;
  __shared__ float4 warp_a[kWarps][kGroup];
  const int first_i = blockIdx.x * kGroup, i = first_i + threadIdx.x;
  partial_accelerations<K, kLanes, kWarps>(positions, warp_a, first_i, n, softening_squared);
  __syncthreads();  // no thread may read the sums before those of all warps are there
  if (threadIdx.x >= kGroup || i >= n || !is_stored(out)) return;
  float3 a{};
  for (int warp = 0; warp < kWarps; ++warp) {
    const float4 sum = warp_a[warp][threadIdx.x];
    a.x += sum.x;
    a.y += sum.y;
    a.z += sum.z;
  }
  const auto at = static_cast<size_t>(order != nullptr ? order[i] : i);
  nbody::library::store_vector(out.accelerations, at, out.force, a.x, a.y, a.z);
}

template <int K, int kLanes, int kWarps>
struct Kernel {
  static void launch_if(const Shape& shape, const nbody::library::Bodies<float>& bodies,
                        float softening_squared, const nbody::library::Output<float>& out,
                        cudaStream_t stream) {
    if (shape.group != K * kLanes || shape.warps != kWarps) return;
    accelerations<K, kLanes, kWarps><<<(bodies.n - 1) / shape.group + 1, 32 * kWarps, 0, stream>>>(
        bodies.positions, bodies.n, softening_squared, bodies.order, out);
  }
  static Shape shape() { return kShape<K, kLanes, kWarps>; }
};

// The kernels for all shapes that the step uses.
template <class... Kernels>
struct AllKernels {
  static std::vector<Shape> shapes() { return {Kernels::shape()...}; }
  static void launch(const Shape& shape, const auto&... arguments) {
    (Kernels::launch_if(shape, arguments...), ...);
  }
};
using All = AllKernels<Kernel<8, 16, 12>, Kernel<4, 32, 8>, Kernel<4, 16, 12>, Kernel<2, 16, 12>,
                       Kernel<2, 8, 8>, Kernel<1, 8, 8>>;

// Returns the shape for n bodies. Each thread remembers the last shape, because choosing one takes
// longer than a small kernel.
const Shape& shape_of(int n) {
  thread_local struct {
    int device = -1, n = 0;
    Shape shape = {};
  } last;
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  if (last.device == device && last.n == n) return last.shape;
  static std::mutex mutex;  // the rule notes its choice for the records of programs
  const std::lock_guard lock(mutex);
  last.shape = shape_for(1, n, All::shapes());
  last.device = device, last.n = n;
  return last.shape;
}

}  // namespace

namespace nbody::library {

void sum_in_one_kernel(const Bodies<float>& bodies, float softening_squared,
                       const Output<float>& out, cudaStream_t stream) {
  All::launch(shape_of(bodies.n), bodies, softening_squared, out, stream);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace nbody::library
