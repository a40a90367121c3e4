// Computes sums with the tree of cpu_tree. The files of cpu_tree compute accelerations of the
// sources. This file adds potentials, and targets that are not sources: a second tree orders such
// targets and forms groups of them, which walk the first tree.
#include <omp.h>

#include <algorithm>
#include <vector>

#include "kernels.h"

// Highway compiles this file once for every instruction set; for this, the file includes itself.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tree.cpp"
// Vectors whose size is known only at run time cannot be elements of an array. A CPU that has such
// vectors uses NEON instead.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "cpu/tree/shares.h"

HWY_BEFORE_NAMESPACE();
namespace {
namespace HWY_NAMESPACE {

// For every body except the target itself, adds -m / s to the x of a sum. If the targets are the
// tree's own bodies, `own` is the index of the target in lane 0 of the group.
template <bool kSkipsItself>
struct BodyPotentials {
  const Tree& tree;
  int own;
  HWY_INLINE void operator()(int source, int lane, const Three& at, Vector softening,
                             Three& sum) const {
    const Lanes lanes;
    const auto j = static_cast<std::size_t>(source);
    const Three d = from_to(at, all_lanes(tree.x[j], tree.y[j], tree.z[j]));
    Vector mass = hn::Set(lanes, tree.mass[j]);
    if constexpr (kSkipsItself) {
      const Vector itself = hn::Set(lanes, static_cast<float>(source - own - lane));
      mass = hn::IfThenZeroElse(hn::Eq(hn::Iota(lanes, 0), itself), mass);
    }
    sum.x = hn::MulAdd(mass, inverse(dot(d, d, softening)), sum.x);
  }
};

// Adds the first terms of a Taylor series of the softened potential, in the notation of
// Quadrupoles:
//   - phi = (m + w (e.Qe / 2 - tr Q / 6)) / s.
struct NodePotentials {
  const Tree& tree;
  bool quadrupole;
  HWY_INLINE void operator()(int source, int, const Three& at, Vector softening, Three& sum) const {
    const Lanes lanes;
    const Node& node = tree.nodes[static_cast<std::size_t>(source)];
    const Three d = from_to(at, all_lanes(node.x, node.y, node.z));
    const Vector s = inverse(dot(d, d, softening)), none = hn::Zero(lanes);
    Vector mass = hn::Set(lanes, node.mass);
    if (quadrupole) {
      const Three e{hn::Mul(s, d.x), hn::Mul(s, d.y), hn::Mul(s, d.z)};
      const Three q{dot(e, all_lanes(node.xx, node.xy, node.xz), none),
                    dot(e, all_lanes(node.xy, node.yy, node.yz), none),
                    dot(e, all_lanes(node.xz, node.yz, node.zz), none)};
      const Vector trace = hn::Set(lanes, node.half_trace / 3);
      const Vector moment = hn::MulAdd(hn::Set(lanes, 0.5f), dot(e, q, none), trace);
      mass = hn::MulAdd(hn::Mul(s, s), moment, mass);
    }
    sum.x = hn::MulAdd(mass, s, sum.x);
  }
};

template <bool kOwn>
struct Potentials {
  static void add_bodies(const Tree& tree, Sources& near, const Walk& walk, Group& group) {
    add_shares(near, BodyPotentials<kOwn>{tree, group.first}, -1, walk.softening_squared, group);
  }
  static void add_nodes(const Tree& tree, Sources& far, const Walk& walk, Group& group) {
    add_shares(far, NodePotentials{tree, walk.quadrupole}, -1, walk.softening_squared, group);
  }
};

// Sets group.ax to the potentials at the targets of the group.
void sum_own_potentials(const Tree& tree, const Walk& walk, Group& group) {
  sum_over_tree<Potentials<true>>(tree, walk, group);
}
void sum_other_potentials(const Tree& tree, const Walk& walk, Group& group) {
  sum_over_tree<Potentials<false>>(tree, walk, group);
}

}  // namespace HWY_NAMESPACE
}  // namespace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace {
HWY_EXPORT(sum_own_potentials);
HWY_EXPORT(sum_other_potentials);

Tree build_tree(const nbody::library::Points<float>& points, float theta) {
  std::vector<nbody::Body> bodies(static_cast<std::size_t>(points.n));
  for (std::size_t i = 0; i < bodies.size(); ++i)
    bodies[i] = {points.x[i], points.y[i], points.z[i], 0, 0, 0, points.mass[i]};
  Tree tree(points.n);
  tree.build(bodies, theta);
  return tree;
}
}  // namespace

namespace nbody::library {

void sum_by_tree(const Task<float>& task, const nbody_options& options, double* out) {
  const Tree sources = build_tree(task.sources, static_cast<float>(options.theta));
  const Tree others = task.is_own() ? Tree(1) : build_tree(task.targets, 1);
  const Tree& targets = task.is_own() ? sources : others;
  const Opening opening{options.multipole, static_cast<float>(options.force_tolerance)};
#pragma omp parallel for schedule(dynamic, 8) if (targets.n >= kWorthATeam)
  for (int first = 0; first < targets.n; first += kGroup) {
    if (task.stop.poll()) continue;
    Group group(targets, first);
    const Walk walk = walk_by_forces(sources, opening, task.softening_squared, group);
    const bool potential = task.quantity == Quantity::potential;
    if (!potential) {
      HWY_DYNAMIC_DISPATCH(accelerate)(sources, walk, group);
    } else if (task.is_own()) {
      HWY_DYNAMIC_DISPATCH(sum_own_potentials)(sources, walk, group);
    } else {
      HWY_DYNAMIC_DISPATCH(sum_other_potentials)(sources, walk, group);
    }
    for (int i = 0; i < std::min(kGroup, targets.n - first); ++i) {
      const auto body = static_cast<std::size_t>(targets.body(first + i));
      if (potential) {
        out[body] = group.ax[i];
      } else {
        double* const a = out + 3 * body;
        a[0] = group.ax[i], a[1] = group.ay[i], a[2] = group.az[i];
      }
    }
  }
}

}  // namespace nbody::library
#endif  // HWY_ONCE
