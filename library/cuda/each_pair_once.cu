// Computes the forces of bodies on each other with step 12's kernel. After that kernel, the step
// adds up the partial sums and moves the bodies. The library adds up the partial sums in the same
// order, and stores the totals.
#include <algorithm>
#include <mutex>

#include "library/cuda/sums.h"
#include "nbody/float3.h"
#include "nbody/shape.h"
#include "nbody/step.h"
#include "nbody/timeline.h"
#include "nbody/transfer.h"

#define main static program_of_step  // a function that nobody calls
#include "step12_newton3/nbody.cu"
#undef main

namespace {

// Writes for each tile the mass that all its bodies have, or -1 if their masses differ. As in
// masses_of_tiles() in nbody/bodies.h, the massless bodies that fill up the last tile count as
// bodies of the tile.
__global__ void find_masses_of_tiles(const Position* __restrict__ positions,
                                     float* __restrict__ masses, int n, int tile) {
  const int first = blockIdx.x * tile, end = min(first + tile, n);
  const float mass = positions[first].w;
  bool same = end - first == tile;
  for (int i = first + threadIdx.x; i < end; i += 32) same &= positions[i].w == mass;
  same = __all_sync(0xffffffff, same);
  if (threadIdx.x == 0) masses[blockIdx.x] = same ? mass : -1.0f;
}

// Adds the sums of the chunks, in the order of the chunks, to the sums of earlier launches. The
// last launch stores the total instead.
__global__ void add_partials(const float3* __restrict__ partials, int chunks, int n,
                             float3* __restrict__ earlier, bool is_first, bool is_last,
                             const int* __restrict__ order, nbody::library::Output<float> out) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n) return;
  float3 a{};
#pragma unroll 8
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const float3 partial = partials[static_cast<size_t>(chunk) * n + i];
    a.x += partial.x;
    a.y += partial.y;
    a.z += partial.z;
  }
  if (!is_first) a = {earlier[i].x + a.x, earlier[i].y + a.y, earlier[i].z + a.z};
  if (!is_last) {
    earlier[i] = a;
  } else if (is_stored(out)) {
    const auto at = static_cast<size_t>(order != nullptr ? order[i] : i);
    nbody::library::store_vector(out.accelerations, at, out.force, a.x, a.y, a.z);
  }
}

// Returns the shape for n bodies. Each thread remembers the last shape, because choosing one takes
// longer than a launch.
const Shape& shape_of(int n) {
  thread_local struct {
    int device = -1, n = 0;
    Shape shape = {};
  } last;
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  if (last.device == device && last.n == n) return last.shape;
  static std::mutex mutex;  // shape_for() changes tuning(), which all threads share
  const std::lock_guard lock(mutex);
  last.shape = shape_for(1, n);
  last.device = device, last.n = n;
  return last.shape;
}

}  // namespace

namespace nbody::library {

int tile_of_pairs(int n) { return shape_of(n).tile(); }

void sum_each_pair_once(const Bodies<float>& bodies, const float* tile_masses,
                        bool has_one_mass_tiles, float softening_squared, const Output<float>& out,
                        cudaStream_t stream) {
  const int n = bodies.n;
  const Shape& shape = shape_of(n);
  const int tiles = (n - 1) / shape.tile() + 1, offsets = tiles / 2 + 1;
  const auto size = static_cast<std::size_t>(n);
  const int at_once =
      static_cast<int>(std::clamp<size_t>(kMaxBytes / (2 * sizeof(float3) * size), 1, offsets));
  DeviceArray<float> masses;
  if (tile_masses == nullptr) {
    masses = DeviceArray<float>(static_cast<std::size_t>(tiles));
    find_masses_of_tiles<<<tiles, 32, 0, stream>>>(bodies.positions, masses.get(), n, shape.tile());
    tile_masses = masses.get();
  }
  const DeviceArray<float3> partials(2 * size * static_cast<std::size_t>(at_once));
  DeviceArray<float3> earlier;
  if (at_once < offsets) earlier = DeviceArray<float3>(size);
  const auto kernel = shape.kernel[has_one_mass_tiles];
  for (int offset = 0; offset < offsets; offset += at_once) {
    const int now = std::min(at_once, offsets - offset);
    kernel<<<dim3(tiles, now), 32 * shape.warps, 0, stream>>>(
        bodies.positions, tile_masses, partials.get(), n, offset, size, softening_squared);
    add_partials<<<(n - 1) / kBlockSize + 1, kBlockSize, 0, stream>>>(
        partials.get(), 2 * now, n, earlier.get(), offset == 0, offset + now == offsets,
        bodies.order, out);
  }
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace nbody::library
