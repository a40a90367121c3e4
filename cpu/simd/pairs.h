// The force sum of cpu_simd: computes every pair of bodies of a system once, tile by tile. The
// library also uses this sum. Include <hwy/foreach_target.h> and <hwy/highway.h> first
// (../vectors.h).
#if defined(CPU_SIMD_PAIRS_H) == defined(HWY_TARGET_TOGGLE)  // true once per target
#ifdef CPU_SIMD_PAIRS_H
#undef CPU_SIMD_PAIRS_H
#else
#define CPU_SIMD_PAIRS_H
#endif

#include <algorithm>

#include "../vectors.h"

#ifndef CPU_SIMD_SHARED  // all targets share what follows
#define CPU_SIMD_SHARED
namespace {
constexpr int kTileSize = 128;  // bodies i whose forces on a body j form one short sum
constexpr int kRunSize = 1024;  // bodies j paired with a tile at once, to stay in the L1 cache
static_assert(kTileSize % kMaxLanes == 0, "a vector must not reach into the next tile");

// The input of the force sum: a system's aligned columns, padded to n with massless bodies.
struct Columns {
  float *x, *y, *z, *mass;
  int n;
};
// Accelerations of bodies, or parts of accelerations.
struct Sums {
  float *x, *y, *z;
};
}  // namespace
#endif

// NOLINTBEGIN(misc-definitions-in-headers): compiled once per instruction set
HWY_BEFORE_NAMESPACE();
namespace {
namespace HWY_NAMESPACE {

// The number of bodies i that use a loaded vector of bodies j. AVX-512 has 32 registers, older CPUs
// have 16.
constexpr int kRegisterBlock = HWY_TARGET < HWY_AVX2 ? 4 : 2;
static_assert(kMaxLanes % kRegisterBlock == 0, "a block must not reach into the next tile");

HWY_INLINE float sum_of_lanes(Vector v) { return hn::GetLane(hn::SumOfLanes(Lanes(), v)); }

// Pairs bodies i ... i + kRegisterBlock - 1 with the bodies first <= j < last. Adds the forces on
// bodies i to on_i, and the forces on bodies j, still divided by kScale, to on_j.
HWY_INLINE void meet(const Columns& s, int i, int first, int last, float softening_squared,
                     const Sums& on_j, const Sums& on_i) {
  const Lanes lanes;
  const Vector softening = hn::Set(lanes, softening_squared);
  Three a[kRegisterBlock];
  for (Three& sum : a) sum.x = sum.y = sum.z = hn::Zero(lanes);
  for (int j = first; j < last; j += static_cast<int>(hn::Lanes(lanes))) {
    const Vector xj = hn::Load(lanes, s.x + j), yj = hn::Load(lanes, s.y + j);
    const Vector zj = hn::Load(lanes, s.z + j), mass_j = hn::Load(lanes, s.mass + j);
    float *const sum_x = on_j.x + (j - first), *const sum_y = on_j.y + (j - first);
    float* const sum_z = on_j.z + (j - first);
    Three aj = {hn::Load(lanes, sum_x), hn::Load(lanes, sum_y), hn::Load(lanes, sum_z)};
    for (int k = 0; k < kRegisterBlock; ++k) {
      const Vector dx = hn::Sub(xj, hn::Set(lanes, s.x[i + k]));
      const Vector dy = hn::Sub(yj, hn::Set(lanes, s.y[i + k]));
      const Vector dz = hn::Sub(zj, hn::Set(lanes, s.z[i + k]));
      const Vector w =
          inverse_cube(hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::MulAdd(dx, dx, softening))));
      // By Newton's third law, the force of j on i and the force of i on j use the same w.
      const Vector from_j = hn::Mul(mass_j, w);
      const Vector from_i = hn::Mul(hn::Set(lanes, s.mass[i + k]), w);
      a[k].x = hn::MulAdd(from_j, dx, a[k].x), aj.x = hn::NegMulAdd(from_i, dx, aj.x);
      a[k].y = hn::MulAdd(from_j, dy, a[k].y), aj.y = hn::NegMulAdd(from_i, dy, aj.y);
      a[k].z = hn::MulAdd(from_j, dz, a[k].z), aj.z = hn::NegMulAdd(from_i, dz, aj.z);
    }
    hn::Store(aj.x, lanes, sum_x), hn::Store(aj.y, lanes, sum_y), hn::Store(aj.z, lanes, sum_z);
  }
  for (int k = 0; k < kRegisterBlock; ++k) {
    on_i.x[i + k] += kScale * sum_of_lanes(a[k].x);
    on_i.y[i + k] += kScale * sum_of_lanes(a[k].y);
    on_i.z[i + k] += kScale * sum_of_lanes(a[k].z);
  }
}

// Pairs the tile begin <= i < end with the bodies first <= j < last. A lane's sum of the forces on
// a body i covers one run of kRunSize bodies j, and the sum of the forces on a body j covers one
// tile. These sums are short, so their rounding errors are small. The short sums are then added
// to the totals.
void meet_tile(const Columns& s, int begin, int end, int first, int last, float softening_squared,
               const Sums& total) {
  const bool itself = first == begin;  // if so, each pair occurs twice
  HWY_ALIGN float x[kRunSize], y[kRunSize], z[kRunSize];
  for (int run = first; run < last; run += kRunSize) {
    const int size = std::min(kRunSize, last - run);
    for (float* const sum : {x, y, z}) std::fill_n(sum, size, 0.0f);
    for (int i = begin; i < end; i += kRegisterBlock) {
      meet(s, i, run, run + size, softening_squared, {x, y, z}, total);
    }
    for (int k = 0; k < size && !itself; ++k) {
      total.x[run + k] += kScale * x[k];
      total.y[run + k] += kScale * y[k];
      total.z[run + k] += kScale * z[k];
    }
  }
}

// Adds the contribution of a tile's pairs to `total`. The tiles form a ring. Each tile is paired
// with itself and with the half of the ring that follows it, so every pair of tiles occurs once and
// all tiles have the same work. If two tiles are opposite each other in the ring, only the tile
// with the lower index computes the pair.
void accelerate_tile(const Columns& s, int tile, float softening_squared, const Sums& total) {
  const int tiles = (s.n + kTileSize - 1) / kTileSize;
  const int begin = tile * kTileSize, end = std::min(begin + kTileSize, s.n);
  const int half = tile < tiles / 2 ? tiles / 2 : (tiles - 1) / 2;
  const int last = (tile + 1 + half) * kTileSize, turn = tiles * kTileSize;
  meet_tile(s, begin, end, begin, end, softening_squared, total);
  meet_tile(s, begin, end, end, std::min(last, s.n), softening_squared, total);
  meet_tile(s, begin, end, 0, last - turn, softening_squared, total);  // past the ring's end
}

}  // namespace HWY_NAMESPACE
}  // namespace
HWY_AFTER_NAMESPACE();
// NOLINTEND(misc-definitions-in-headers)

#if HWY_ONCE
namespace {
HWY_EXPORT(accelerate_tile);  // has a version for each target

// The memory of one thread: a system's columns, and the thread's own sum for every body. Threads
// therefore need not wait for each other, and the order of additions is always the same.
struct Workspace {
  explicit Workspace(std::size_t n) : memory(hwy::AllocateAligned<float>(7 * n)) {
    float* const p = memory.get();
    if (p == nullptr) throw std::bad_alloc();
    columns = {p, p + n, p + 2 * n, p + 3 * n, static_cast<int>(n)};
    sums = {p + 4 * n, p + 5 * n, p + 6 * n};
  }
  hwy::AlignedFreeUniquePtr<float[]> memory;
  Columns columns;
  Sums sums;
};

// Sets `total` to the contribution of the tiles first_tile, first_tile + stride, ...
inline void accelerate(const Columns& s, int first_tile, int stride, float softening_squared,
                       const Sums& total) {
  for (float* const sum : {total.x, total.y, total.z}) std::fill_n(sum, s.n, 0.0f);
  for (int tile = first_tile; tile * kTileSize < s.n; tile += stride) {
    HWY_DYNAMIC_DISPATCH(accelerate_tile)(s, tile, softening_squared, total);
  }
}
}  // namespace
#endif  // HWY_ONCE
#endif  // once per target
