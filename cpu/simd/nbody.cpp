// cpu_simd -- every pair once, in vector registers: a structure of arrays, an estimate of the
// reciprocal square root that one Newton step improves, and Newton's third law.
//
// A vector holds one body j in each lane. The program pairs each vector with a few bodies i, and
// adds the force of a pair to both bodies. The program chooses SSE, AVX2 or AVX-512 when it starts.
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

// The file includes itself, so that Highway can compile it once for every target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nbody.cpp"
// Vectors whose size is known only at run time cannot be elements of an array. A CPU that has such
// vectors uses NEON instead.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "pairs.h"

#if HWY_ONCE
namespace {
using nbody::Body;

// Below this number of interactions, one thread finishes before a team would have synchronised.
constexpr double kWorthATeam = 1 << 18;

// Padding is placed at the first body's position, so that padding adds no new distances.
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
      // First, every thread computes the same number of whole systems.
#pragma omp for schedule(dynamic)
      for (int s = 0; s < whole; ++s) {
        Body* const bodies = systems.system(s).data();
        const auto& [memory, columns, sums] = mine.front();
        for (int i = 0; i < padded; ++i) load(columns, i, bodies, n);
        accelerate(columns, 0, 1, run.softening_squared, sums);
        for (int i = 0; i < n; ++i) kick_and_drift(bodies[i], i, run.dt, mine);
      }
      // All threads together then compute the remaining systems, one after the other. Every `omp
      // for` loop ends with a barrier.
      for (int s = whole; s < systems.count; ++s) {
        Body* const bodies = systems.system(s).data();
        const Columns& columns = all.front().columns;
#pragma omp for
        for (int i = 0; i < padded; ++i) load(columns, i, bodies, n);
        accelerate(columns, me, team, run.softening_squared, mine.front().sums);
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
  std::cerr << "NBODY_SIMD: this CPU does not support \"" << name << "\"\n";
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
