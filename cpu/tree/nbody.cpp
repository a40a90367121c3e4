// cpu_tree -- a tree on the CPU: groups of neighbours walk it together, and a vector register holds
// the bodies of a group.
//
// The tree, and the criterion by which nodes are opened, are the same as in step 15b: a group walks
// the tree twice. The first, coarse walk estimates the forces on the group's bodies. The second
// walk opens the nodes whose first omitted multipole term is not small compared with these forces.
//
// Parent: step15b_force_aware.   Run: cpu_tree --systems 1 --bodies 131072 --steps 4
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <span>
#include <string>

#include "nbody/step.h"
#include "nbody/stopwatch.h"
#include "walk.h"

// The file includes itself, so that Highway can compile it once for every target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nbody.cpp"
// Vectors whose size is known only at run time cannot be elements of an array. A CPU that has such
// vectors uses NEON instead.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "shares.h"

#if HWY_ONCE
namespace {
using nbody::Body;
using namespace cpu_tree;

// Kick: v_i += a_i dt. Drift: x_i += v_i dt.
void kick_and_drift(Body& body, float ax, float ay, float az, float dt) {
  body.vx += ax * dt, body.vy += ay * dt, body.vz += az * dt;
  body.x += body.vx * dt, body.y += body.vy * dt, body.z += body.vz * dt;
}

void advance(const nbody::Run& run, const Tree& tree, int first, std::span<Body> bodies) {
  const nbody::Approximation& own = run.approximation;
  const Opening opening{own.multipole, own.force_tolerance.value_or(0)};
  Group group(tree, first);
  const Walk walk = walk_by_forces(tree, opening, run.softening_squared, group);
  HWY_DYNAMIC_DISPATCH(accelerate)(tree, walk, group);
  for (int i = 0; i < std::min(kGroup, tree.n - first); ++i) {
    Body& body = bodies[static_cast<std::size_t>(tree.body(first + i))];
    kick_and_drift(body, group.ax[i], group.ay[i], group.az[i], run.dt);
  }
}

// Computes all time steps of a system. If called by one thread of a team, this function uses only
// that thread.
void take_steps(const nbody::Run& run, std::span<Body> bodies) {
  Tree tree(static_cast<int>(bodies.size()));
  for (int step = 0; step < run.steps; ++step) {
    tree.build(bodies, run.approximation.theta);
#pragma omp parallel for schedule(dynamic, 8) if (tree.n >= kWorthATeam)
    for (int first = 0; first < tree.n; first += kGroup) advance(run, tree, first, bodies);
  }
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const nbody::Stopwatch stopwatch;
  // First, every thread computes the same number of whole systems.
  const int whole = systems.count - systems.count % omp_get_max_threads();
#pragma omp parallel for schedule(dynamic) if (systems.bodies.size() >= kWorthATeam)
  for (int s = 0; s < whole; ++s) take_steps(run, systems.system(s));
  // All threads together then compute the remaining systems, one after the other.
  for (int s = whole; s < systems.count; ++s) take_steps(run, systems.system(s));
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
      {.name = "cpu_tree",
       .parent = "step15b_force_aware",
       .summation = nbody::Summation::tiled,
       .approximation = {{.theta = 1, .force_tolerance = 0.005f, .rebuild_every = {}}},
       .boundaries = {kLeafSize, kGroup, kWorthATeam}},
      simulate, argc, argv);
}
#endif  // HWY_ONCE
