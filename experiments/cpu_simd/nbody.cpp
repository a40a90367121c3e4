// cpu_simd -- the same sum in vector registers: structure of arrays, four bodies at a time,
// an estimated reciprocal root mended by one Newton step.
//
// A vector holds as many bodies j as the CPU has lanes; once loaded it serves four bodies i, whose
// accelerations stay in registers. SSE, AVX2 or AVX-512 is chosen when the program runs.
//
// Parent: step00_cpu_omp.   Run: cpu_simd --systems 1 --bodies 16384 --steps 4
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <new>
#include <string>

#include "nbody/step.h"
#include "nbody/stopwatch.h"

// Highway compiles this file once for every target, by including it from itself.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nbody.cpp"
// Vectors of a size known only at run time cannot be elements of an array: fall back to NEON there.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#ifndef CPU_SIMD_SHARED  // by all targets
#define CPU_SIMD_SHARED
namespace {
using nbody::Body;

constexpr int kMaxLanes = 16;      // AVX-512's; a system is padded to a multiple of them
constexpr int kRegisterBlock = 4;  // bodies i for which a loaded vector of bodies j is used
constexpr int kTileSize = 1024;    // bodies j that are summed on their own
constexpr int kTaskSize = 32;      // bodies i that a thread takes at once
static_assert(kMaxLanes % kRegisterBlock == 0 && kTaskSize % kRegisterBlock == 0,
              "a block ends inside its task or in the padding: no body is kicked twice");
static_assert(kTileSize % kMaxLanes == 0, "a vector must not reach into the next tile");

// What a force needs of one system: aligned columns, padded to n with massless bodies.
struct Columns {
  float *x, *y, *z, *mass, *mass_15;  // mass_15 is 1.5 mass
  int n;
};
}  // namespace
#endif

HWY_BEFORE_NAMESPACE();
namespace {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, kMaxLanes>;
using Vector = hn::Vec<Lanes>;

// m / r^3.
HWY_INLINE Vector mass_over_cube(Vector distance_squared, Vector mass, Vector mass_15) {
  const Vector one = hn::Set(Lanes(), 1.0f);
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  // The estimate is y = (1 + d) / r, and e = 1 - r^2 y^2 tells how wrong it is. 1 / r^3 is
  // y^3 (1 - e)^(-3/2) = y^3 (1 + 1.5 e + 1.875 e^2 ...): Newton's step, for the cube at once.
  const Vector y = hn::ApproximateReciprocalSqrt(distance_squared);
  const Vector y_squared = hn::Mul(y, y);
  Vector e = hn::NegMulAdd(distance_squared, y_squared, one);
  // With AVX-512's 14 bits the term in e^2 is below 3e-8; with the 12 bits of older ones it is not.
  if (HWY_TARGET >= HWY_AVX2) e = hn::MulAdd(hn::Mul(hn::Set(Lanes(), 1.25f), e), e, e);
  return hn::Mul(hn::Mul(y, y_squared), hn::MulAdd(mass_15, e, mass));
#else
  // Elsewhere the estimate may have no more than 8 bits, too few for one step.
  (void)mass_15;
  const Vector y = hn::Div(one, hn::Sqrt(distance_squared));
  return hn::Mul(hn::Mul(mass, y), hn::Mul(y, y));
#endif
}

struct Acceleration {
  Vector x, y, z;  // its lanes still have to be added up
};

// What the bodies first <= j < last do to bodies i ... i + kRegisterBlock - 1. Every lane of every
// tile has a partial sum of its own, so that no sum gets long enough to round much.
HWY_INLINE void add_tile(const Columns& s, int i, int first, int last, float softening_squared,
                         Acceleration* total) {
  const Lanes lanes;
  const Vector softening = hn::Set(lanes, softening_squared);
  Acceleration tile[kRegisterBlock];
  for (auto& a : tile) a.x = a.y = a.z = hn::Zero(lanes);
  for (int j = first; j < last; j += static_cast<int>(hn::Lanes(lanes))) {
    const Vector xj = hn::Load(lanes, s.x + j), yj = hn::Load(lanes, s.y + j);
    const Vector zj = hn::Load(lanes, s.z + j), mass = hn::Load(lanes, s.mass + j);
    const Vector mass_15 = hn::Load(lanes, s.mass_15 + j);
    for (int k = 0; k < kRegisterBlock; ++k) {
      const Vector dx = hn::Sub(xj, hn::Set(lanes, s.x[i + k]));  // Set moves out of the loop
      const Vector dy = hn::Sub(yj, hn::Set(lanes, s.y[i + k]));
      const Vector dz = hn::Sub(zj, hn::Set(lanes, s.z[i + k]));
      const Vector distance_squared =
          hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::MulAdd(dx, dx, softening)));
      const Vector w = mass_over_cube(distance_squared, mass, mass_15);
      tile[k].x = hn::MulAdd(w, dx, tile[k].x);
      tile[k].y = hn::MulAdd(w, dy, tile[k].y);
      tile[k].z = hn::MulAdd(w, dz, tile[k].z);
    }
  }
  for (int k = 0; k < kRegisterBlock; ++k) {
    total[k].x = hn::Add(total[k].x, tile[k].x);
    total[k].y = hn::Add(total[k].y, tile[k].y);
    total[k].z = hn::Add(total[k].z, tile[k].z);
  }
}

HWY_INLINE float sum(Vector v) { return hn::GetLane(hn::SumOfLanes(Lanes(), v)); }

// Kick: v_i += a_i dt for begin <= i < end. Reads positions only, so bodies may be updated in any
// order. The last block may reach beyond end, into padding: nothing is stored for that.
void update_velocity(const Columns& s, Body* bodies, int begin, int end, float dt,
                     float softening_squared) {
  for (int i = begin; i < end; i += kRegisterBlock) {
    Acceleration a[kRegisterBlock];
    for (auto& zero : a) zero.x = zero.y = zero.z = hn::Zero(Lanes());
    for (int first = 0; first < s.n; first += kTileSize) {
      add_tile(s, i, first, std::min(first + kTileSize, s.n), softening_squared, a);
    }
    for (int k = 0; k < kRegisterBlock && i + k < end; ++k) {
      bodies[i + k].vx += sum(a[k].x) * dt;
      bodies[i + k].vy += sum(a[k].y) * dt;
      bodies[i + k].vz += sum(a[k].z) * dt;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace {
HWY_EXPORT(update_velocity);  // the table of its versions

// Drift: x_i += v_i dt.
void update_position(Body& body, float dt) {
  body.x += body.vx * dt, body.y += body.vy * dt, body.z += body.vz * dt;
}

// Padding stands where the first body stands: at no distance that was not there before.
void fill(const Columns& s, const Body* bodies, int n) {
  for (int i = 0; i < s.n; ++i) {
    const Body& body = bodies[i < n ? i : 0];
    s.x[i] = body.x, s.y[i] = body.y, s.z[i] = body.z;
    s.mass[i] = i < n ? body.mass : 0, s.mass_15[i] = 1.5f * s.mass[i];
  }
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const nbody::Stopwatch stopwatch;
  const int count = systems.count, n = systems.bodies_per_system;
  const int padded = (n + kMaxLanes - 1) / kMaxLanes * kMaxLanes;
  const int tasks = (n + kTaskSize - 1) / kTaskSize;  // of one system
  const std::size_t size = std::size_t{5} * static_cast<unsigned>(padded);
  const auto memory = hwy::AllocateAligned<float>(size * static_cast<unsigned>(count));
  if (!memory) throw std::bad_alloc();
  const auto columns = [&](int s) {
    float* const x = memory.get() + size * static_cast<unsigned>(s);
    return Columns{x, x + padded, x + 2 * padded, x + 3 * padded, x + 4 * padded, padded};
  };
  for (int step = 0; step < run.steps; ++step) {
    // The end of each parallel loop is a barrier: no body drifts before every force is known.
    // Tasks of all systems are in one loop: one large system and many small ones use every core.
#pragma omp parallel for
    for (int s = 0; s < count; ++s) fill(columns(s), systems.system(s).data(), n);
#pragma omp parallel for schedule(dynamic)
    for (int task = 0; task < count * tasks; ++task) {
      const int s = task / tasks, begin = task % tasks * kTaskSize;
      const int end = std::min(begin + kTaskSize, n);
      HWY_DYNAMIC_DISPATCH(update_velocity)
      (columns(s), systems.system(s).data(), begin, end, run.dt, run.softening_squared);
    }
#pragma omp parallel for
    for (Body& body : systems.bodies) update_position(body, run.dt);
  }
  return {.compute = stopwatch.seconds()};
}

// NBODY_SIMD=AVX2 (or AVX3, which is AVX-512; SSE4, SSSE3, SCALAR) keeps Highway to one target.
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
  if (target != nullptr && !choose_target(target)) return 77;  // as for a missing device
  return nbody::step_main(
      {.name = "cpu_simd", .parent = "step00_cpu_omp", .summation = nbody::Summation::tiled},
      simulate, argc, argv);
}
#endif  // HWY_ONCE
