// Computes with vectors the forces that bodies and nodes exert on a group of bodies. A walk of the
// tree collects these bodies and nodes. Used by cpu_tree and by the library. Include
// <hwy/foreach_target.h> and <hwy/highway.h> first (../vectors.h).
#if defined(CPU_TREE_SHARES_H) == defined(HWY_TARGET_TOGGLE)  // true once per target
#ifdef CPU_TREE_SHARES_H
#undef CPU_TREE_SHARES_H
#else
#define CPU_TREE_SHARES_H
#endif

#include <algorithm>

#include "../vectors.h"
#include "walk.h"

// NOLINTBEGIN(misc-definitions-in-headers): compiled once per instruction set
HWY_BEFORE_NAMESPACE();
namespace {
namespace HWY_NAMESPACE {
using namespace cpu_tree;

// A loaded source acts on this number of vectors of bodies. AVX-512 has 32 registers, older CPUs
// have 16.
constexpr int kRegisterBlock = HWY_TARGET < HWY_AVX2 ? 2 : 1;
static_assert(kGroup % (kRegisterBlock * kMaxLanes) == 0, "a block must not reach past the group");

// Returns a . b + more.
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

// Adds the acceleration that a body causes, divided by kScale.
struct Bodies {
  const Tree& tree;
  HWY_INLINE void operator()(int source, int, const Three& at, Vector softening, Three& a) const {
    const auto j = static_cast<std::size_t>(source);
    const Three d = from_to(at, all_lanes(tree.x[j], tree.y[j], tree.z[j]));
    const Vector w = inverse_cube(dot(d, d, softening));
    add(a, hn::Mul(hn::Set(Lanes(), tree.mass[j]), w), d);
  }
};

// Adds the acceleration that a node causes, divided by kScale. The node acts as a point with its
// mass at its centre of mass.
struct Monopoles {
  const Tree& tree;
  HWY_INLINE void operator()(int source, int, const Three& at, Vector softening, Three& a) const {
    const Node& node = tree.nodes[static_cast<std::size_t>(source)];
    const Three d = from_to(at, all_lanes(node.x, node.y, node.z));
    const Vector w = inverse_cube(dot(d, d, softening));
    add(a, hn::Mul(hn::Set(Lanes(), node.mass), w), d);
  }
};

// Adds the acceleration that a node of mass m and quadrupole Q causes. Let u_k point from the
// node's centre of mass to body k, and let d point from the target to that centre. With
//   Q = 3 sum m_k u_k u_k^T,  s^2 = d^2 + eps^2,  e = d / s,  w = 1 / s^2
// the first terms of a Taylor series of the softened force are
//   a = w ((m + w (5/2 e.Qe - tr Q / 2)) e - w Qe).
// The formula does not contain w^2, which can overflow even if w Q is small.
struct Quadrupoles {
  const Tree& tree;
  HWY_INLINE void operator()(int source, int, const Three& at, Vector softening, Three& a) const {
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

// Adds the shares of all sources to the accelerations of a group, and empties the list of sources.
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
        for (int k = 0; k < kRegisterBlock; ++k) {
          share(source, first + k * width, at[k], softening, a[k]);
        }
    for (int k = 0; k < kRegisterBlock; ++k) {
      const int i = first + k * width;
      hn::Store(hn::MulAdd(factor, a[k].x, hn::Load(lanes, group.ax + i)), lanes, group.ax + i);
      hn::Store(hn::MulAdd(factor, a[k].y, hn::Load(lanes, group.ay + i)), lanes, group.ay + i);
      hn::Store(hn::MulAdd(factor, a[k].z, hn::Load(lanes, group.az + i)), lanes, group.az + i);
    }
  }
  sources.ranges = sources.count = 0;
}

// Adds the accelerations that bodies and nodes cause. The library has the same functions for
// potentials.
struct Accelerations {
  static void add_bodies(const Tree& tree, Sources& near, const Walk& walk, Group& group) {
    add_shares(near, Bodies{tree}, kScale, walk.softening_squared, group);
  }
  static void add_nodes(const Tree& tree, Sources& far, const Walk& walk, Group& group) {
    if (walk.quadrupole) {
      add_shares(far, Quadrupoles{tree}, 1, walk.softening_squared, group);
    } else {
      add_shares(far, Monopoles{tree}, kScale, walk.softening_squared, group);
    }
  }
};

// Sets the sums of a group. Nodes and bodies are collected in lists of limited length. The sum over
// a list has few terms, so its rounding errors are small. This sum is then added to the total.
template <class Shares>
HWY_INLINE void sum_over_tree(const Tree& tree, const Walk& walk, Group& group) {
  for (float* const sum : {group.ax, group.ay, group.az}) std::fill_n(sum, kGroup, 0.0f);
  Sources near, far;
  int stack[kDepth + 2] = {0}, size = 1;
  while (size > 0) {
    const int number = stack[--size];
    const Node& node = tree.nodes[static_cast<std::size_t>(number)];
    if (is_accepted(node, group, walk)) {
      far.add(number, 1);
      if (far.is_full(1)) Shares::add_nodes(tree, far, walk, group);
    } else if (node.child == 0) {
      near.add(node.first, node.count);
      if (near.is_full(kLeafSize)) Shares::add_bodies(tree, near, walk, group);
    } else {
      stack[size++] = node.child + 1;
      stack[size++] = node.child;
    }
  }
  Shares::add_nodes(tree, far, walk, group);
  Shares::add_bodies(tree, near, walk, group);
}

void accelerate(const Tree& tree, const Walk& walk, Group& group) {
  sum_over_tree<Accelerations>(tree, walk, group);
}

}  // namespace HWY_NAMESPACE
}  // namespace
HWY_AFTER_NAMESPACE();
// NOLINTEND(misc-definitions-in-headers)

#if HWY_ONCE
namespace {
using namespace cpu_tree;
HWY_EXPORT(accelerate);  // has a version for each target

// Estimates the forces on a group by a coarse walk, and returns the walk that opens nodes according
// to these forces.
inline Walk walk_by_forces(const Tree& tree, const Opening& opening, float softening_squared,
                           Group& group) {
  const float nearby = 16 * group.wide_squared;  // softens nearby nodes, which are not points
  HWY_DYNAMIC_DISPATCH(accelerate)(tree, {true, false, softening_squared + nearby, 0}, group);
  return {false, opening.multipole == 2, softening_squared,
          largest_neglect(group, opening.force_tolerance)};
}
}  // namespace
#endif  // HWY_ONCE
#endif  // once per target
