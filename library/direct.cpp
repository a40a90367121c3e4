// Direct sums. If the targets are the sources, float32 accelerations come from cpu_simd's kernel,
// which computes every pair once. Other targets, other quantities and float64 use a second kernel:
// a vector holds targets, and every source is broadcast to all lanes.
#include <omp.h>

#include <algorithm>
#include <new>
#include <span>
#include <type_traits>

#include "kernels.h"

// Highway compiles this file once for every instruction set; for this, the file includes itself.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "direct.cpp"
// Vectors whose size is known only at run time cannot be elements of an array. A CPU that has such
// vectors uses NEON instead.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "cpu/simd/pairs.h"

HWY_BEFORE_NAMESPACE();
namespace {
namespace HWY_NAMESPACE {
using namespace nbody::library;

constexpr int kList = 128;   // sources whose contributions form one short sum
constexpr int kVectors = 2;  // vectors of targets that each source is applied to

template <class V>
HWY_INLINE V one_over_root(V square) {
  if constexpr (std::is_same_v<V, Vector>) {
    return inverse(square);
  } else {
    return hn::Div(hn::Set(hn::DFromV<V>(), 1), hn::Sqrt(square));
  }
}

// one_over_cube() returns 1 / s^3, divided by kCubeScale.
template <class Real>
constexpr Real kCubeScale = std::is_same_v<Real, float> ? kScale : 1;
template <class V>
HWY_INLINE V one_over_cube(V square) {
  if constexpr (std::is_same_v<V, Vector>) {
    return inverse_cube(square);
  } else {
    return hn::Div(hn::Set(hn::DFromV<V>(), 1), hn::Mul(square, hn::Sqrt(square)));
  }
}

// Adds the contributions of the sources begin <= j < end to the targets that fill kVectors vectors,
// beginning with the target `first`. `total` holds kBlock numbers per component.
template <class Real, Quantity kQuantity, bool kSkipsItself>
HWY_INLINE void add_list(const Task<Real>& task, int begin, int end, int first, double* total) {
  const hn::CappedTag<Real, kMaxLanes> lanes;
  using V = hn::Vec<hn::CappedTag<Real, kMaxLanes>>;
  const int wide = static_cast<int>(hn::Lanes(lanes));
  const Points<Real>&s = task.sources, &t = task.targets;
  const V softening = hn::Set(lanes, task.softening_squared);
  V x[kVectors], y[kVectors], z[kVectors], vx[kVectors], vy[kVectors], vz[kVectors];
  V sum[width(kQuantity)][kVectors];
  for (int k = 0; k < kVectors; ++k) {
    // NOLINTNEXTLINE(bugprone-misplaced-widening-cast): a tile's index fits
    const auto i = static_cast<std::size_t>(first + k * wide);
    x[k] = hn::LoadU(lanes, &t.x[i]);
    y[k] = hn::LoadU(lanes, &t.y[i]);
    z[k] = hn::LoadU(lanes, &t.z[i]);
    if constexpr (kQuantity == Quantity::jerk) {
      vx[k] = hn::LoadU(lanes, &t.vx[i]);
      vy[k] = hn::LoadU(lanes, &t.vy[i]);
      vz[k] = hn::LoadU(lanes, &t.vz[i]);
    }
    for (auto& component : sum) component[k] = hn::Zero(lanes);
  }
  for (int number = begin; number < end; ++number) {
    const auto j = static_cast<std::size_t>(number);
    const V xj = hn::Set(lanes, s.x[j]), yj = hn::Set(lanes, s.y[j]), zj = hn::Set(lanes, s.z[j]);
    const V mass = hn::Set(lanes, s.mass[j]);
    for (int k = 0; k < kVectors; ++k) {
      const V dx = hn::Sub(xj, x[k]), dy = hn::Sub(yj, y[k]), dz = hn::Sub(zj, z[k]);
      const V square = hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::MulAdd(dx, dx, softening)));
      if constexpr (kQuantity == Quantity::potential) {
        const V inverse_s = one_over_root(square);
        V acting = mass;
        if constexpr (kSkipsItself) {
          const V itself = hn::Set(lanes, static_cast<Real>(number - first - k * wide));
          acting = hn::IfThenZeroElse(hn::Eq(hn::Iota(lanes, 0), itself), mass);
        }
        sum[0][k] = hn::NegMulAdd(acting, inverse_s, sum[0][k]);
      } else {
        V w = hn::Mul(mass, one_over_cube(square));
        if constexpr (kQuantity == Quantity::jerk)  // bodies at the same place, without softening
          w = hn::IfThenZeroElse(hn::Eq(square, hn::Set(lanes, kLeastSquare<Real>)), w);
        sum[0][k] = hn::MulAdd(w, dx, sum[0][k]);
        sum[1][k] = hn::MulAdd(w, dy, sum[1][k]);
        sum[2][k] = hn::MulAdd(w, dz, sum[2][k]);
        if constexpr (kQuantity == Quantity::jerk) {
          const V ux = hn::Sub(hn::Set(lanes, s.vx[j]), vx[k]);
          const V uy = hn::Sub(hn::Set(lanes, s.vy[j]), vy[k]);
          const V uz = hn::Sub(hn::Set(lanes, s.vz[j]), vz[k]);
          const V approach = hn::MulAdd(dz, uz, hn::MulAdd(dy, uy, hn::Mul(dx, ux)));
          const V inverse_s = one_over_root(square), three = hn::Set(lanes, 3);
          const V turn = hn::Mul(hn::Mul(hn::Mul(three, approach), inverse_s), inverse_s);
          sum[3][k] = hn::MulAdd(w, hn::NegMulAdd(turn, dx, ux), sum[3][k]);
          sum[4][k] = hn::MulAdd(w, hn::NegMulAdd(turn, dy, uy), sum[4][k]);
          sum[5][k] = hn::MulAdd(w, hn::NegMulAdd(turn, dz, uz), sum[5][k]);
        }
      }
    }
  }
  constexpr double kFactor = kQuantity == Quantity::potential ? 1 : kCubeScale<Real>;
  HWY_ALIGN Real values[kMaxLanes];
  for (int component = 0; component < width(kQuantity); ++component)
    for (int k = 0; k < kVectors; ++k) {
      hn::Store(sum[component][k], lanes, values);
      double* const to = total + component * kBlock + first % kBlock + k * wide;
      for (int lane = 0; lane < wide; ++lane)
        to[lane] += kFactor * static_cast<double>(values[lane]);
    }
}

// Sums over all sources for the targets of a block. The sum over a list has few terms, and the sums
// of the lists are added in float64.
template <class Real, Quantity kQuantity>
HWY_INLINE void sum_block(const Task<Real>& task, int block, double* total) {
  const hn::CappedTag<Real, kMaxLanes> lanes;
  const int step = kVectors * static_cast<int>(hn::Lanes(lanes));
  constexpr bool kHasSelfTerm = kQuantity == Quantity::potential;
  std::fill_n(total, width(kQuantity) * kBlock, 0.0);
  for (int begin = 0; begin < task.sources.n; begin += kList) {
    const int end = std::min(begin + kList, task.sources.n);
    for (int first = block; first < block + kBlock; first += step) {
      const bool itself = task.is_own() && begin < first + step && first < end;
      if (kHasSelfTerm && itself) {
        add_list<Real, kQuantity, kHasSelfTerm>(task, begin, end, first, total);
      } else {
        add_list<Real, kQuantity, false>(task, begin, end, first, total);
      }
    }
  }
}

template <class Real>
HWY_INLINE void sum_any_block(const Task<Real>& task, int block, double* total) {
  switch (task.quantity) {
    case Quantity::accelerations:
      return sum_block<Real, Quantity::accelerations>(task, block, total);
    case Quantity::potential:
      return sum_block<Real, Quantity::potential>(task, block, total);
    case Quantity::jerk:
      return sum_block<Real, Quantity::jerk>(task, block, total);
  }
}
void sum_block_f32(const Task<float>& task, int block, double* total) {
  sum_any_block(task, block, total);
}
void sum_block_f64(const Task<double>& task, int block, double* total) {
  sum_any_block(task, block, total);
}

}  // namespace HWY_NAMESPACE
}  // namespace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace {
using namespace nbody::library;
HWY_EXPORT(sum_block_f32);  // tables with one version for each of Highway's targets
HWY_EXPORT(sum_block_f64);

// Below this number of interactions, one thread finishes before a team would have synchronised.
constexpr double kWorthATeam = 1 << 18;

void sum_one_block(const Task<float>& task, int block, double* total) {
  HWY_DYNAMIC_DISPATCH(sum_block_f32)(task, block, total);
}
void sum_one_block(const Task<double>& task, int block, double* total) {
  HWY_DYNAMIC_DISPATCH(sum_block_f64)(task, block, total);
}

template <class Real>
void sum_blocks(const Task<Real>& task, double* out) {
  const int n = task.targets.n, components = width(task.quantity);
  const bool team = static_cast<double>(n) * task.sources.n >= kWorthATeam;
#pragma omp parallel for schedule(dynamic) if (team)
  for (int block = 0; block < n; block += kBlock) {
    if (task.stop.poll()) continue;
    double total[6 * kBlock];
    sum_one_block(task, block, total);
    for (int i = block; i < std::min(block + kBlock, n); ++i)
      for (int c = 0; c < components; ++c)
        out[static_cast<std::size_t>(i) * static_cast<std::size_t>(components) +
            static_cast<std::size_t>(c)] = total[c * kBlock + i - block];
  }
}

// As in cpu_simd, each thread has its own sum for every body, and takes every `team`-th tile.
void sum_pairs(const Task<float>& task, double* out) {
  const Points<float>& points = task.sources;
  const int n = points.n, padded = (n + kMaxLanes - 1) / kMaxLanes * kMaxLanes;
  std::vector<Workspace> workers;
  const bool parallel = static_cast<double>(n) * n >= kWorthATeam;
  for (int t = parallel ? omp_get_max_threads() : 1; t > 0; --t)
    workers.emplace_back(static_cast<std::size_t>(padded));
  const Columns& columns = workers.front().columns;
  std::copy_n(points.x.begin(), padded, columns.x);
  std::copy_n(points.y.begin(), padded, columns.y);
  std::copy_n(points.z.begin(), padded, columns.z);
  std::copy_n(points.mass.begin(), padded, columns.mass);
#pragma omp parallel if (parallel)
  {
    const int team = omp_get_num_threads(), me = omp_get_thread_num();
    const Sums& mine = workers[static_cast<std::size_t>(me)].sums;
    for (float* const sum : {mine.x, mine.y, mine.z}) std::fill_n(sum, padded, 0.0f);
    for (int tile = me; tile * kTileSize < padded && !task.stop.poll(); tile += team)
      HWY_DYNAMIC_DISPATCH(accelerate_tile)(columns, tile, task.softening_squared, mine);
#pragma omp barrier
#pragma omp for
    for (int i = 0; i < n; ++i) {
      float ax = 0, ay = 0, az = 0;
      for (const Workspace& worker : std::span(workers).first(static_cast<std::size_t>(team))) {
        ax += worker.sums.x[i], ay += worker.sums.y[i], az += worker.sums.z[i];
      }
      double* const a = out + 3 * static_cast<std::size_t>(i);
      a[0] = ax, a[1] = ay, a[2] = az;
    }
  }
}
}  // namespace

namespace nbody::library {

template <>
void sum_directly(const Task<float>& task, double* out) {
  if (task.is_own() && task.quantity == Quantity::accelerations) return sum_pairs(task, out);
  sum_blocks(task, out);
}

template <>
void sum_directly(const Task<double>& task, double* out) {
  sum_blocks(task, out);
}

}  // namespace nbody::library
#endif  // HWY_ONCE
