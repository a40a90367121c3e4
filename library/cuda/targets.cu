// Computes sums at targets, which may differ from the sources, with step 11's interactions and in
// the order of step 11's kernel. Also computes potentials and jerks, which the step does not need.
#include <algorithm>
#include <cmath>

#include "library/cuda/sums.h"
// After the library's header for memory, which redefines how these headers allocate.
#include "float64/register_blocking.h"
#include "nbody/float3.h"
#include "nbody/shape.h"
#include "nbody/step.h"
#include "nbody/timeline.h"
#include "nbody/transfer.h"

#define main static program_of_step  // a function that nobody calls
#include "step11_register_blocking/nbody.cu"
#undef main

namespace doubles = float64::register_blocking;

namespace {

using nbody::library::Bodies;
using nbody::library::Four;
using nbody::library::is_stored;
using nbody::library::Output;
using nbody::library::Quantity;
using nbody::library::store_vector;

__device__ float inverse_root(float value) { return rsqrtf(value); }
__device__ double inverse_root(double value) { return rsqrt(value); }

// These functions add and store the sums of one target.
__device__ void add(float3& sum, float3 more) { sum += more; }
__device__ void add(float& sum, float more) { sum += more; }
__device__ void add(double& sum, double more) { sum += more; }
__device__ void add(doubles::Four& sum, const doubles::Four& more) {
  sum.x += more.x, sum.y += more.y, sum.z += more.z;
}
template <class Real>
struct Jerk {
  Real ax, ay, az, x, y, z;
};
template <class Real>
__device__ void add(Jerk<Real>& sum, const Jerk<Real>& more) {
  sum.ax += more.ax, sum.ay += more.ay, sum.az += more.az;
  sum.x += more.x, sum.y += more.y, sum.z += more.z;
}

template <class Out, class Vector>
__device__ void store(const Output<Out>& out, size_t i, const Vector& sum) {
  store_vector(out.accelerations, i, out.force, sum.x, sum.y, sum.z);
}
template <class Out>
__device__ void store(const Output<Out>& out, size_t i, float sum) {
  store_scaled(out.potentials, i, out.potential, sum);
}
template <class Out>
__device__ void store(const Output<Out>& out, size_t i, double sum) {
  store_scaled(out.potentials, i, out.potential, sum);
}
template <class Out, class Real>
__device__ void store(const Output<Out>& out, size_t i, const Jerk<Real>& sum) {
  store_vector(out.accelerations, i, out.force, sum.ax, sum.ay, sum.az);
  store_vector(out.jerks, i, out.jerk, sum.x, sum.y, sum.z);
}

// The kinds of sums. A kind pairs source j with the K bodies of a thread: i and every kBlockSize-th
// body after it.
struct Accelerations {
  using Real = float;
  using Point = float4;
  using Total = float3;
  static constexpr int kSlots = 14;  // issue slots of an interaction
  static constexpr bool kMoves = false;
  template <int K>
  static __device__ void meet(const Point& source, const Point&, int, const Point (&body)[K],
                              const Point (&)[K], int, Total (&a)[K], float softening_squared) {
    interact<K>(source, body, a, softening_squared);
  }
};
struct AccelerationsF64 {
  using Real = double;
  using Point = doubles::Four;
  using Total = doubles::Four;
  static constexpr int kSlots = 40;
  static constexpr bool kMoves = false;
  template <int K>
  static __device__ void meet(const Point& source, const Point&, int, const Point (&body)[K],
                              const Point (&)[K], int, Total (&a)[K], double softening_squared) {
    static_assert(K == doubles::kBodies);
    doubles::interact(source, body, a, softening_squared);
  }
};
template <class Number, class Four, bool kOwn>
struct Potentials {
  using Real = Number;
  using Point = Four;
  using Total = Number;
  static constexpr int kSlots = sizeof(Number) == 4 ? 10 : 32;
  static constexpr bool kMoves = false;
  template <int K>
  static __device__ void meet(const Point& source, const Point&, int j, const Point (&body)[K],
                              const Point (&)[K], int i, Total (&sum)[K], Real softening_squared) {
    for (int k = 0; k < K; ++k) {
      const Real dx = source.x - body[k].x, dy = source.y - body[k].y, dz = source.z - body[k].z;
      const Real square = dx * dx + (dy * dy + (dz * dz + softening_squared));
      const bool itself = kOwn && j == i + k * kBlockSize;
      sum[k] -= (itself ? 0 : source.w) * inverse_root(square);
    }
  }
};
template <class Number, class Four>
struct Jerks {
  using Real = Number;
  using Point = Four;
  using Total = Jerk<Number>;
  static constexpr int kSlots = sizeof(Number) == 4 ? 28 : 80;
  static constexpr bool kMoves = true;
  template <int K>
  static __device__ void meet(const Point& source, const Point& velocity, int,
                              const Point (&body)[K], const Point (&moving)[K], int,
                              Total (&sum)[K], Real softening_squared) {
    for (int k = 0; k < K; ++k) {
      const Real dx = source.x - body[k].x, dy = source.y - body[k].y, dz = source.z - body[k].z;
      const Real vx = velocity.x - moving[k].x, vy = velocity.y - moving[k].y;
      const Real vz = velocity.z - moving[k].z;
      const Real distance_squared = dx * dx + (dy * dy + (dz * dz + softening_squared));
      const bool together = distance_squared == nbody::library::kLeastSquare<Real>;
      const Real inverse = inverse_root(distance_squared), square = inverse * inverse;
      const Real s = (together ? 0 : source.w) * inverse * square;
      const Real t = -3 * (dx * vx + (dy * vy + dz * vz)) * square;
      add(sum[k],
          {s * dx, s * dy, s * dz, s * (vx + t * dx), s * (vy + t * dy), s * (vz + t * dz)});
    }
  }
};

template <class Point>
__device__ Point load_point(const Point* points, int j, int n) {
  return points != nullptr && j < n ? points[j] : Point{};
}

// Computes what the sources of chunk blockIdx.y add to the sums at each target:
// partials[chunk][target].
template <class Kind, int K>
__global__ void __launch_bounds__(kBlockSize, 1)
    partial_sums(const typename Kind::Point* __restrict__ sources,
                 const typename Kind::Point* __restrict__ velocities, int count,
                 const typename Kind::Point* __restrict__ targets,
                 const typename Kind::Point* __restrict__ target_velocities, int n,
                 typename Kind::Total* __restrict__ partials, int chunk,
                 typename Kind::Real softening_squared) {
  using Point = typename Kind::Point;
  using Total = typename Kind::Total;
  __shared__ Point tile[kTileSize];
  __shared__ Point tile_velocities[Kind::kMoves ? kTileSize : 1];
  const int first_i = blockIdx.x * kBlockSize * K + threadIdx.x;
  const int begin = blockIdx.y * chunk, end = min(begin + chunk, count);
  Point body[K], moving[K];
  Total total[K] = {};
  for (int k = 0; k < K; ++k) {
    body[k] = load_point(targets, first_i + k * kBlockSize, n);
    moving[k] = load_point(target_velocities, first_i + k * kBlockSize, n);
  }
  for (int first = begin; first < end; first += kTileSize) {
    tile[threadIdx.x] = load_point(sources, first + threadIdx.x, count);
    if (Kind::kMoves)
      tile_velocities[threadIdx.x] = load_point(velocities, first + threadIdx.x, count);
    __syncthreads();  // no thread may read the tile before all of it is there
    Total of_tile[K] = {};
#pragma unroll kUnroll
    for (int j = 0; j < kTileSize; ++j)
      Kind::template meet<K>(tile[j], tile_velocities[Kind::kMoves ? j : 0], first + j, body,
                             moving, first_i, of_tile, softening_squared);
    for (int k = 0; k < K; ++k) add(total[k], of_tile[k]);
    __syncthreads();  // no thread may overwrite the tile before all have read it
  }
  for (int k = 0; k < K; ++k) {
    const int i = first_i + k * kBlockSize;
    if (i < n) partials[static_cast<size_t>(blockIdx.y) * n + i] = total[k];
  }
}

// Adds the partial sums of the chunks in the order of the chunks, and stores the total of each
// target in the call's output array.
template <class Total, class Out>
__global__ void add_chunks(const Total* __restrict__ partials, const int* __restrict__ order,
                           int chunks, int n, Output<Out> out) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n || !is_stored(out)) return;
  Total sum = partials[i];
#pragma unroll 8
  for (int chunk = 1; chunk < chunks; ++chunk)
    add(sum, partials[static_cast<size_t>(chunk) * n + i]);
  store(out, static_cast<size_t>(order != nullptr ? order[i] : i), sum);
}

struct Division {
  int k, chunk;  // targets of a thread, and sources of a block
};

// Applies step 11's rule (nbody/shape.h) to a number of targets that may differ from the number of
// sources. Tries the numbers of chunks that just fill the SMs.
template <class Kind>
Division division_of(int targets, int sources, std::initializer_list<int> bodies_per_thread) {
  const double sms = nbody::device_attribute(cudaDevAttrMultiProcessorCount);
  Division best{};
  double least = INFINITY;
  for (const int k : bodies_per_thread) {
    const int columns = blocks_for(targets, k), tiles = (sources - 1) / kTileSize + 1;
    for (int blocks_per_sm = 1; blocks_per_sm <= 12; ++blocks_per_sm) {
      const int wanted = std::clamp(static_cast<int>(blocks_per_sm * sms) / columns, 1, tiles);
      const int chunk = ((tiles - 1) / wanted + 1) * kTileSize, chunks = (sources - 1) / chunk + 1;
      const double busiest = std::max(3.0, std::ceil(1.0 * columns * chunks / sms));
      const double work = busiest * (Kind::kSlots * k + 3.0) * chunk + 0.004 * targets * chunks;
      if (work >= least) continue;
      least = work;
      best = {k, chunk};
    }
  }
  return best;
}

int chunks_of(int sources, const Division& division) { return (sources - 1) / division.chunk + 1; }

// Launches the kernel for K targets per thread if the division says so. (clang++ 15 does not finish
// compiling a generic lambda that launches.)
template <class Kind, int K, class Real>
void launch_partial_sums(const Bodies<Real>& sources, const Bodies<Real>& targets,
                         const Division& division, typename Kind::Total* partials,
                         Real softening_squared, cudaStream_t stream) {
  using Point = typename Kind::Point;
  static_assert(sizeof(Point) == sizeof(Four<Real>));
  if (K != division.k) return;
  const auto points = [](const Four<Real>* from) { return reinterpret_cast<const Point*>(from); };
  const dim3 grid(blocks_for(targets.n, K), chunks_of(sources.n, division));
  partial_sums<Kind, K><<<grid, kBlockSize, 0, stream>>>(
      points(sources.positions), points(sources.velocities), sources.n, points(targets.positions),
      points(targets.velocities), targets.n, partials, division.chunk, softening_squared);
}

template <class Kind, int... Ks, class Real, class Out>
void sum(const Bodies<Real>& sources, const Bodies<Real>& targets, Real softening_squared,
         const Output<Out>& out, cudaStream_t stream) {
  const Division division = division_of<Kind>(targets.n, sources.n, {Ks...});
  const int chunks = chunks_of(sources.n, division);
  const nbody::DeviceArray<typename Kind::Total> partials(static_cast<size_t>(targets.n) * chunks);
  (launch_partial_sums<Kind, Ks>(sources, targets, division, partials.get(), softening_squared,
                                 stream),
   ...);
  add_chunks<<<blocks_for(targets.n, 1), kBlockSize, 0, stream>>>(partials.get(), targets.order,
                                                                  chunks, targets.n, out);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

namespace nbody::library {

template <class Real, class Out>
void sum_at_targets(Quantity quantity, const Bodies<Real>& sources, const Bodies<Real>& targets,
                    bool own, Real softening_squared, const Output<Out>& out, cudaStream_t stream) {
  constexpr bool kSingle = sizeof(Real) == sizeof(float);
  using Point = std::conditional_t<kSingle, float4, doubles::Four>;
  if (quantity == Quantity::jerk) {
    sum<Jerks<Real, Point>, 2, 1>(sources, targets, softening_squared, out, stream);
  } else if (quantity == Quantity::potential) {
    if (own)
      sum<Potentials<Real, Point, true>, 2, 1>(sources, targets, softening_squared, out, stream);
    else
      sum<Potentials<Real, Point, false>, 2, 1>(sources, targets, softening_squared, out, stream);
  } else if constexpr (kSingle) {
    sum<Accelerations, 4, 2, 1>(sources, targets, softening_squared, out, stream);
  } else {
    sum<AccelerationsF64, 2>(sources, targets, softening_squared, out, stream);
  }
}

template void sum_at_targets(Quantity, const Bodies<float>&, const Bodies<float>&, bool, float,
                             const Output<float>&, cudaStream_t);
template void sum_at_targets(Quantity, const Bodies<double>&, const Bodies<double>&, bool, double,
                             const Output<double>&, cudaStream_t);

}  // namespace nbody::library
