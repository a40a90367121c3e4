// cpu_tree -- a tree on the CPU: groups of neighbours walk it together, and a vector register holds
// the bodies of a group.
//
// The tree and the criterion by which nodes are opened are those of step 15b: a group walks the
// tree twice, first coarsely, to estimate the forces on its bodies, and then to open the nodes
// whose first neglected term is not small compared with these.
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

// Highway compiles this file once for every target. To do so, the file includes itself.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nbody.cpp"
// Vectors whose size is known only at run time cannot be elements of an array. A CPU that has such
// vectors uses NEON instead.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#ifndef CPU_TREE_SHARED  // all targets share what follows
#define CPU_TREE_SHARED
namespace {
using nbody::Body;
using namespace tree;

constexpr int kMaxLanes = 16;  // lanes of AVX-512; a group is a multiple of this
}  // namespace
#endif

HWY_BEFORE_NAMESPACE();
namespace {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, kMaxLanes>;
using Vector = hn::Vec<Lanes>;

// The number of vectors of bodies that each source is applied to. AVX-512 has 32 registers, older
// CPUs have 16.
constexpr int kRegisterBlock = HWY_TARGET < HWY_AVX2 ? 2 : 1;
static_assert(kGroup % (kRegisterBlock * kMaxLanes) == 0, "a block must not reach past the group");

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
// Returns 1 / r = y (1 - e)^(-1/2) = y (1 + e / 2 ...); the next term is below 1e-7.
HWY_INLINE Vector inverse(Vector distance_squared) {
  const Vector y = hn::ApproximateReciprocalSqrt(distance_squared);
  const Vector half = hn::Mul(hn::Set(Lanes(), 0.5f), y);
  return hn::Mul(y, hn::NegMulAdd(hn::Mul(distance_squared, y), half, hn::Set(Lanes(), 1.5f)));
}
#else
// Other targets may estimate only 8 bits, which are too few for one step.
constexpr float kScale = 1;
HWY_INLINE Vector inverse(Vector distance_squared) {
  return hn::Div(hn::Set(Lanes(), 1.0f), hn::Sqrt(distance_squared));
}
HWY_INLINE Vector inverse_cube(Vector distance_squared) {
  const Vector y = inverse(distance_squared);
  return hn::Mul(y, hn::Mul(y, y));
}
#endif

struct Three {
  Vector x, y, z;
};

// Returns x . y + more.
HWY_INLINE Vector dot(const Three& a, const Three& b, Vector more) {
  return hn::MulAdd(a.z, b.z, hn::MulAdd(a.y, b.y, hn::MulAdd(a.x, b.x, more)));
}
HWY_INLINE Three all_lanes(float x, float y, float z) {
  const Lanes lanes;
  return {hn::Set(lanes, x), hn::Set(lanes, y), hn::Set(lanes, z)};
}
HWY_INLINE Three from_to(const Three& from, const Three& to) {
  return {hn::Sub(to.x, from.x), hn::Sub(to.y, from.y), hn::Sub(to.z, from.z)};
}
// Adds s b to a.
HWY_INLINE void add(Three& a, Vector s, const Three& b) {
  a = {hn::MulAdd(s, b.x, a.x), hn::MulAdd(s, b.y, a.y), hn::MulAdd(s, b.z, a.z)};
}

// Adds a body's share of the acceleration, divided by kScale.
struct Bodies {
  const Tree& tree;
  HWY_INLINE void operator()(int source, const Three& at, Vector softening, Three& a) const {
    const auto j = static_cast<std::size_t>(source);
    const Three d = from_to(at, all_lanes(tree.x[j], tree.y[j], tree.z[j]));
    const Vector w = inverse_cube(dot(d, d, softening));
    add(a, hn::Mul(hn::Set(Lanes(), tree.mass[j]), w), d);
  }
};

// Adds the share of a node that counts as its mass at its centre, divided by kScale.
struct Monopoles {
  const Tree& tree;
  HWY_INLINE void operator()(int source, const Three& at, Vector softening, Three& a) const {
    const Node& node = tree.nodes[static_cast<std::size_t>(source)];
    const Three d = from_to(at, all_lanes(node.x, node.y, node.z));
    const Vector w = inverse_cube(dot(d, d, softening));
    add(a, hn::Mul(hn::Set(Lanes(), node.mass), w), d);
  }
};

// Adds the share of a node of mass m and quadrupole Q = 3 sum m_k u_k u_k^T, with u_k from its
// centre to its bodies. With d to the centre, s^2 = d^2 + eps^2, e = d / s and w = 1 / s^2,
//   a = w ((m + w (5/2 e.Qe - tr Q / 2)) e - w Qe),
// the first terms of a Taylor series of the softened force; w^2 would overflow where w Q is small.
struct Quadrupoles {
  const Tree& tree;
  HWY_INLINE void operator()(int source, const Three& at, Vector softening, Three& a) const {
    const Lanes lanes;
    const Node& node = tree.nodes[static_cast<std::size_t>(source)];
    const Three d = from_to(at, all_lanes(node.x, node.y, node.z));
    const Vector s = inverse(dot(d, d, softening)), w = hn::Mul(s, s), none = hn::Zero(lanes);
    const Three e{hn::Mul(s, d.x), hn::Mul(s, d.y), hn::Mul(s, d.z)};
    const Three q{hn::Mul(w, dot(e, all_lanes(node.xx, node.xy, node.xz), none)),
                  hn::Mul(w, dot(e, all_lanes(node.xy, node.yy, node.yz), none)),
                  hn::Mul(w, dot(e, all_lanes(node.xz, node.yz, node.zz), none))};
    const Vector mass = hn::MulAdd(w, hn::Set(lanes, node.half_trace), hn::Set(lanes, node.mass));
    add(a, hn::Mul(w, hn::MulAdd(hn::Set(lanes, 2.5f), dot(e, q, none), mass)), e);
    add(a, hn::Neg(w), q);
  }
};

// Adds the shares of all sources to the accelerations of a group, and empties the list.
template <class Share>
HWY_INLINE void add_shares(Sources& sources, const Share& share, float scale,
                           float softening_squared, Group& group) {
  const Lanes lanes;
  const Vector softening = hn::Set(lanes, softening_squared), factor = hn::Set(lanes, scale);
  const int width = static_cast<int>(hn::Lanes(lanes));
  for (int first = 0; first < kGroup; first += kRegisterBlock * width) {
    Three at[kRegisterBlock], a[kRegisterBlock];  // positions and accelerations
    for (int k = 0; k < kRegisterBlock; ++k) {
      const int i = first + k * width;
      at[k] = {hn::LoadU(lanes, group.x + i), hn::LoadU(lanes, group.y + i),
               hn::LoadU(lanes, group.z + i)};
      a[k] = {hn::Zero(lanes), hn::Zero(lanes), hn::Zero(lanes)};
    }
    for (int r = 0; r < sources.ranges; ++r)
      for (int source = sources.begin[r]; source < sources.end[r]; ++source)
        for (int k = 0; k < kRegisterBlock; ++k) share(source, at[k], softening, a[k]);
    for (int k = 0; k < kRegisterBlock; ++k) {
      const int i = first + k * width;
      hn::Store(hn::MulAdd(factor, a[k].x, hn::Load(lanes, group.ax + i)), lanes, group.ax + i);
      hn::Store(hn::MulAdd(factor, a[k].y, hn::Load(lanes, group.ay + i)), lanes, group.ay + i);
      hn::Store(hn::MulAdd(factor, a[k].z, hn::Load(lanes, group.az + i)), lanes, group.az + i);
    }
  }
  sources.ranges = sources.count = 0;
}

void add_nodes(const Tree& tree, Sources& far, const Walk& walk, Group& group) {
  if (walk.quadrupole) {
    add_shares(far, Quadrupoles{tree}, 1, walk.softening_squared, group);
  } else {
    add_shares(far, Monopoles{tree}, kScale, walk.softening_squared, group);
  }
}

// Sets the accelerations of a group. Nodes and bodies are collected in lists of limited length: the
// sum of a list is short, so that rounding changes it little, and is then added to the total.
void accelerate(const Tree& tree, const Walk& walk, Group& group) {
  for (float* const sum : {group.ax, group.ay, group.az}) std::fill_n(sum, kGroup, 0.0f);
  Sources near, far;
  int stack[kDepth + 2] = {0}, size = 1;
  while (size > 0) {
    const int number = stack[--size];
    const Node& node = tree.nodes[static_cast<std::size_t>(number)];
    if (is_accepted(node, group, walk)) {
      far.add(number, 1);
      if (far.is_full(1)) add_nodes(tree, far, walk, group);
    } else if (node.child == 0) {
      near.add(node.first, node.count);
      if (near.is_full(kLeafSize))
        add_shares(near, Bodies{tree}, kScale, walk.softening_squared, group);
    } else {
      stack[size++] = node.child + 1;
      stack[size++] = node.child;
    }
  }
  add_nodes(tree, far, walk, group);
  add_shares(near, Bodies{tree}, kScale, walk.softening_squared, group);
}

}  // namespace HWY_NAMESPACE
}  // namespace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace {
HWY_EXPORT(accelerate);  // the table of versions for all targets

// Returns the largest term that a node may neglect, from the accelerations of the coarse walk.
float largest_neglect(const Group& group, float tolerance) {
  float least = std::numeric_limits<float>::infinity(), most = 0;
  for (int i = 0; i < kGroup; ++i) {
    const float square =
        group.ax[i] * group.ax[i] + group.ay[i] * group.ay[i] + group.az[i] * group.az[i];
    least = std::min(least, square), most = std::max(most, square);
  }
  return tolerance * std::max(std::sqrt(least), kCancelled * std::sqrt(most));
}

// Kick: v_i += a_i dt. Drift: x_i += v_i dt.
void kick_and_drift(Body& body, float ax, float ay, float az, float dt) {
  body.vx += ax * dt, body.vy += ay * dt, body.vz += az * dt;
  body.x += body.vx * dt, body.y += body.vy * dt, body.z += body.vz * dt;
}

void advance(const nbody::Run& run, const Tree& tree, int first, std::span<Body> bodies) {
  const auto& [theta, multipole, tolerance] = run.approximation;
  Group group(tree, first);
  const float nearby = 16 * group.wide_squared;  // a nearby node is not a point
  HWY_DYNAMIC_DISPATCH(accelerate)
  (tree, {true, false, run.softening_squared + nearby, 0}, group);
  const float bound = largest_neglect(group, tolerance.value_or(0));
  HWY_DYNAMIC_DISPATCH(accelerate)
  (tree, {false, multipole == 2, run.softening_squared, bound}, group);
  for (int i = 0; i < std::min(kGroup, tree.n - first); ++i) {
    Body& body = bodies[static_cast<std::size_t>(tree.body(first + i))];
    kick_and_drift(body, group.ax[i], group.ay[i], group.az[i], run.dt);
  }
}

// Takes all time steps of a system. Called by one thread of a team, it uses only this thread.
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
  // First, each thread computes whole systems: as many as can be divided evenly among the threads.
  const int whole = systems.count - systems.count % omp_get_max_threads();
#pragma omp parallel for schedule(dynamic) if (systems.bodies.size() >= kWorthATeam)
  for (int s = 0; s < whole; ++s) take_steps(run, systems.system(s));
  // The other systems are computed one by one, each by all threads.
  for (int s = whole; s < systems.count; ++s) take_steps(run, systems.system(s));
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
  return nbody::step_main({.name = "cpu_tree",
                           .parent = "step15b_force_aware",
                           .summation = nbody::Summation::tiled,
                           .approximation = {{.theta = 1, .force_tolerance = 0.005f}},
                           .boundaries = {kLeafSize, kGroup, kWorthATeam}},
                          simulate, argc, argv);
}
#endif  // HWY_ONCE
