// The forces of bodies on each other by step 12's kernels: a kick of length 1 from rest turns a
// velocity into the acceleration.
#include <algorithm>
#include <mutex>

#include "library/cuda/sums.h"
#include "nbody/float3.h"
#include "nbody/step.h"
#include "nbody/timeline.h"
#include "nbody/transfer.h"
#include "step12_newton3/shapes.h"

#define main static program_of_step  // a function that nobody calls
#include "step12_newton3/nbody.cu"
#undef main

namespace {

// Sets the mass that all bodies of a tile have, or -1. As masses_of_tiles() of nbody/bodies.h: the
// massless bodies that fill up the last tile count.
__global__ void find_masses_of_tiles(const Position* __restrict__ positions,
                                     float* __restrict__ masses, int n, int tile) {
  const int first = blockIdx.x * tile, end = min(first + tile, n);
  const float mass = positions[first].w;
  bool same = end - first == tile;
  for (int i = first + threadIdx.x; i < end; i += 32) same &= positions[i].w == mass;
  same = __all_sync(0xffffffff, same);
  if (threadIdx.x == 0) masses[blockIdx.x] = same ? mass : -1.0f;
}

Shape shape_of(int n) {
  static std::mutex mutex;  // the rule notes its choice for the records of programs
  const std::lock_guard lock(mutex);
  return shape_for(
      1, n, kMinWarps,
      {kShape<12, 2>, kShape<12, 1>, kShape<8, 1>, kShape<4, 2>, kShape<4, 1>, kShape<2, 1>});
}

}  // namespace

namespace nbody::library {

void sum_each_pair_once(float4* positions, float4* velocities, int n, float softening_squared,
                        cudaStream_t stream) {
  const Shape shape = shape_of(n);
  const int tiles = (n - 1) / shape.tile() + 1, offsets = tiles / 2 + 1;
  const auto size = static_cast<std::size_t>(n);
  const int at_once =
      static_cast<int>(std::clamp<size_t>(kMaxBytes / (2 * sizeof(float3) * size), 1, offsets));
  const DeviceArray<float> masses(static_cast<std::size_t>(tiles));
  const DeviceArray<float3> partials(2 * size * static_cast<std::size_t>(at_once));
  find_masses_of_tiles<<<tiles, 32, 0, stream>>>(positions, masses.get(), n, shape.tile());
  const auto kernel = shape.kernels[1];  // the host does not know whether tiles have one mass
  for (int offset = 0; offset < offsets; offset += at_once) {
    const int now = std::min(at_once, offsets - offset);
    kernel<<<dim3(tiles, now), 32 * shape.warps, 0, stream>>>(
        positions, masses.get(), partials.get(), n, offset, size, softening_squared);
    update_bodies<<<(n - 1) / kBlockSize + 1, kBlockSize, 0, stream>>>(
        positions, velocities, partials.get(), 2 * now, n, 1.0f, false);
  }
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace nbody::library
