// cpu_simd -- every pair once, in vector registers: a structure of arrays, an estimate of the
// reciprocal square root that one Newton step improves, and Newton's third law.
//
// A vector holds as many bodies j as the CPU has lanes, and is paired with a few bodies i. The
// force of a pair is added to both bodies. The program chooses SSE, AVX2 or AVX-512 when it starts.
//
// Parent: step00_cpu_omp.   Run: cpu_simd --systems 1 --bodies 16384 --steps 4
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "nbody/step.h"
#include "nbody/stopwatch.h"

// Highway compiles this file once for every target. To do so, the file includes itself.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nbody.cpp"
// Vectors whose size is known only at run time cannot be elements of an array. A CPU that has such
// vectors uses NEON instead.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#ifndef CPU_SIMD_SHARED  // all targets share what follows
#define CPU_SIMD_SHARED
namespace {
using nbody::Body;

constexpr int kMaxLanes = 16;   // lanes of AVX-512; a system is padded to a multiple of this
constexpr int kTileSize = 128;  // bodies i whose forces on a body j are summed separately
// Below this number of interactions, one thread finishes before a team would have synchronised.
constexpr double kWorthATeam = 1 << 18;
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

HWY_BEFORE_NAMESPACE();
namespace {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, kMaxLanes>;
using Vector = hn::Vec<Lanes>;

// The number of bodies i that use a loaded vector of bodies j. AVX-512 has 32 registers, older CPUs
// have 16.
constexpr int kRegisterBlock = HWY_TARGET < HWY_AVX2 ? 4 : 2;
static_assert(kMaxLanes % kRegisterBlock == 0, "a block must not reach into the next tile");

#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
// If the estimate is y = (1 + d) / r, then t = r^2 y^2 shows its error. With e = 1 - t,
//   1 / r^3 = y^3 (1 - e)^(-3/2) = y^3 (1 + 3/2 e + 15/8 e^2 ...), Newton's step for the cube.
// The first two terms are 3/2 (5/3 - t), all three are 15/8 ((7/5 - t)^2 + 28/75). kScale holds the
// factor in front. AVX-512 estimates 14 bits, so 15/8 e^2 is below 3e-8; with 12 bits it is not.
constexpr bool kTwoTerms = HWY_TARGET >= HWY_AVX2;
constexpr float kFrom = kTwoTerms ? 7.0f / 5 : 5.0f / 3, kPlus = 28.0f / 75;
constexpr float kScale = 1 / (kTwoTerms ? (kFrom - 1) * (kFrom - 1) + kPlus : kFrom - 1);

// Returns 1 / r^3, divided by kScale.
HWY_INLINE Vector inverse_cube(Vector distance_squared) {
  const Vector y = hn::ApproximateReciprocalSqrt(distance_squared);
  const Vector y_squared = hn::Mul(y, y);
  Vector mend = hn::NegMulAdd(distance_squared, y_squared, hn::Set(Lanes(), kFrom));
  if (kTwoTerms) mend = hn::MulAdd(mend, mend, hn::Set(Lanes(), kPlus));
  return hn::Mul(hn::Mul(y, y_squared), mend);
}
#else
// Other targets may estimate only 8 bits, which are too few for one step.
constexpr float kScale = 1;
HWY_INLINE Vector inverse_cube(Vector distance_squared) {
  const Vector y = hn::Div(hn::Set(Lanes(), 1.0f), hn::Sqrt(distance_squared));
  return hn::Mul(y, hn::Mul(y, y));
}
#endif

HWY_INLINE float sum_of_lanes(Vector v) { return hn::GetLane(hn::SumOfLanes(Lanes(), v)); }

struct Three {
  Vector x, y, z;
};

// Pairs bodies i ... i + kRegisterBlock - 1 with the bodies first <= j < last. Adds forces on
// bodies j to on_j, where they are still divided by kScale, and forces on bodies i to on_i.
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

// Pairs the tile begin <= i < end with the bodies first <= j < last. Every sum is short, so that
// rounding changes it little: a lane sums over one run, and a body j over one tile. These sums are
// then added to the totals.
void meet_tile(const Columns& s, int begin, int end, int first, int last, float softening_squared,
               const Sums& total) {
  const bool itself = first == begin;  // every pair occurs twice here; one side is enough
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

// Sets `total` to the contribution of the tiles first_tile, first_tile + stride, ... The tiles form
// a ring. Each tile is paired with itself and with the half of the ring that follows it, so every
// pair of tiles occurs once and all tiles have the same work. If two tiles are opposite, only the
// lower one is paired with the other.
void accelerate(const Columns& s, int first_tile, int stride, float softening_squared,
                const Sums& total) {
  for (float* const sum : {total.x, total.y, total.z}) std::fill_n(sum, s.n, 0.0f);
  const int tiles = (s.n + kTileSize - 1) / kTileSize;
  for (int tile = first_tile; tile < tiles; tile += stride) {
    const int begin = tile * kTileSize, end = std::min(begin + kTileSize, s.n);
    const int half = tile < tiles / 2 ? tiles / 2 : (tiles - 1) / 2;
    const int last = (tile + 1 + half) * kTileSize, turn = tiles * kTileSize;
    meet_tile(s, begin, end, begin, end, softening_squared, total);
    meet_tile(s, begin, end, end, std::min(last, s.n), softening_squared, total);
    meet_tile(s, begin, end, 0, last - turn, softening_squared, total);  // past the ring's end
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace {
HWY_EXPORT(accelerate);  // the table of versions for all targets

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

// Padding is placed at the first body's position, so that it adds no new distances.
void load(const Columns& s, int i, const Body* bodies, int n) {
  const Body& body = bodies[i < n ? i : 0];
  s.x[i] = body.x, s.y[i] = body.y, s.z[i] = body.z, s.mass[i] = i < n ? body.mass : 0;
}

// Kick: v_i += a_i dt, where each thread has a part of a_i. Drift: x_i += v_i dt.
void kick_and_drift(Body& body, int i, float dt, std::span<const Workspace> workers) {
  float ax = 0, ay = 0, az = 0;
  for (const auto& [memory, columns, sums] : workers) {
    ax += sums.x[i], ay += sums.y[i], az += sums.z[i];
  }
  body.vx += ax * dt, body.vy += ay * dt, body.vz += az * dt;
  body.x += body.vx * dt, body.y += body.vy * dt, body.z += body.vz * dt;
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const nbody::Stopwatch stopwatch;
  const int n = systems.bodies_per_system;
  const int padded = (n + kMaxLanes - 1) / kMaxLanes * kMaxLanes;
  std::vector<Workspace> threads;
  for (int t = omp_get_max_threads(); t > 0; --t) threads.emplace_back(padded);
  const double interactions = static_cast<double>(systems.count) * n * n;
#pragma omp parallel if (interactions >= kWorthATeam)
  {
    const int team = omp_get_num_threads(), me = omp_get_thread_num();
    const std::span<const Workspace> all(threads.data(), static_cast<std::size_t>(team));
    const auto mine = all.subspan(static_cast<std::size_t>(me), 1);
    const int whole = systems.count - systems.count % team;
    for (int step = 0; step < run.steps; ++step) {
      // First, each thread computes whole systems: as many as can be divided evenly among the
      // threads.
#pragma omp for schedule(dynamic)
      for (int s = 0; s < whole; ++s) {
        Body* const bodies = systems.system(s).data();
        const auto& [memory, columns, sums] = mine.front();
        for (int i = 0; i < padded; ++i) load(columns, i, bodies, n);
        HWY_DYNAMIC_DISPATCH(accelerate)(columns, 0, 1, run.softening_squared, sums);
        for (int i = 0; i < n; ++i) kick_and_drift(bodies[i], i, run.dt, mine);
      }
      // The other systems are computed one by one, each by all threads. Every `omp for` loop ends
      // with a barrier.
      for (int s = whole; s < systems.count; ++s) {
        Body* const bodies = systems.system(s).data();
        const Columns& columns = all.front().columns;
#pragma omp for
        for (int i = 0; i < padded; ++i) load(columns, i, bodies, n);
        HWY_DYNAMIC_DISPATCH(accelerate)
        (columns, me, team, run.softening_squared, mine.front().sums);
#pragma omp barrier  // no body may move before all forces on it are known
#pragma omp for
        for (int i = 0; i < n; ++i) kick_and_drift(bodies[i], i, run.dt, all);
      }
    }
  }
  return {.compute = stopwatch.seconds()};
}

// NBODY_SIMD limits Highway to one target: AVX3 (AVX-512), AVX2, SSE4, SSSE3 or SCALAR.
bool choose_target(const std::string& name) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    if (name == hwy::TargetName(target)) return hwy::DisableTargets(~target), true;
  }
  std::cerr << "NBODY_SIMD: this machine has no \"" << name << "\"\n";
  return false;
}
}  // namespace

int main(int argc, char** argv) {
  const char* const target = std::getenv("NBODY_SIMD");
  if (target != nullptr && !choose_target(target)) return 77;  // the exit code for a missing device
  return nbody::step_main(
      {.name = "cpu_simd", .parent = "step00_cpu_omp", .summation = nbody::Summation::tiled},
      simulate, argc, argv);
}
#endif  // HWY_ONCE
