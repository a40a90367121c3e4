// The parts of a walk of the tree: the group of bodies that walks, the test of whether a node may
// act as one body on the whole group, and the lists of sources that the walk finds.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "tree.h"

namespace cpu_tree {

constexpr int kSources = 128;  // nodes or bodies in a full list; their forces form one short sum

constexpr float kCoarse = 2.25f;  // the coarse walk opens inner nodes whose (r / R)^2 is larger
// A force in a group counts as at least this part of the group's largest force.
constexpr float kCancelled = 0.01f;
// If a group's box is this many times as wide as the distance at which a node is accepted, the node
// may be in the middle of the box and still be far from all bodies, if these are near the faces of
// the box. The walk then tests each body.
constexpr float kWide = 8;

// The criterion for opening nodes. The opening angle is stored in the nodes (Tree::build).
struct Opening {
  int multipole;
  float force_tolerance;
};

// Tells a walk which nodes to open and how an accepted node acts.
struct Walk {
  bool coarse, quadrupole;
  float softening_squared;
  float bound;  // the largest multipole term that may be omitted
};

// The bodies of a group, which are neighbours in the sorted order, and their accelerations.
struct Group {
  Group(const Tree& tree, int first);
  const float *x, *y, *z;
  float low[3], high[3];  // the box around the bodies
  float wide_squared;     // (the box's diagonal / kWide)^2
  int first;              // index of the first body
  alignas(64) float ax[kGroup], ay[kGroup], az[kGroup];
};

inline Group::Group(const Tree& tree, int first)
    : x(tree.x.data() + first),
      y(tree.y.data() + first),
      z(tree.z.data() + first),
      wide_squared(0),
      first(first) {
  const float* const columns[] = {x, y, z};
  for (int k = 0; k < 3; ++k) {
    const auto [least, most] = std::minmax_element(columns[k], columns[k] + kGroup);
    low[k] = *least, high[k] = *most;
    wide_squared += (high[k] - low[k]) / kWide * ((high[k] - low[k]) / kWide);
  }
}

// Returns the squared distance of a node from the box of a group, or from the middle of the box.
inline float distance_squared(const Node& node, const Group& group, bool from_middle) {
  const float centre[] = {node.x, node.y, node.z};
  float square = 0;
  for (int k = 0; k < 3; ++k) {
    const float low = group.low[k] - centre[k], high = centre[k] - group.high[k];
    const float d = from_middle ? 0.5f * (low - high) : std::max(std::max(low, high), 0.0f);
    square += d * d;
  }
  return square;
}

// Returns the squared distance of a node from the nearest body of a group.
inline float distance_of_nearest(const Node& node, const Group& group) {
  float least = std::numeric_limits<float>::infinity();
  for (int i = 0; i < kGroup; ++i) {
    const float dx = group.x[i] - node.x, dy = group.y[i] - node.y, dz = group.z[i] - node.z;
    least = std::min(least, dx * dx + dy * dy + dz * dz);
  }
  return least;
}

// True if a node acts as one body on bodies at this distance or farther. Let r be the node's radius
// divided by theta, and R the distance. Then r / R must be small, and so must the first omitted
// multipole term, which is m / R^2 (r / R)^3 with a quadrupole. A NaN opens the node.
inline bool acts_as_one_body(const Node& node, float distance_squared, const Walk& walk) {
  if (walk.coarse) return node.opening < kCoarse * distance_squared || node.child == 0;
  if (!(node.opening < distance_squared)) return false;
  const float square = node.opening / distance_squared;
  const float power = walk.quadrupole ? square * std::sqrt(square) : square;
  return node.mass / distance_squared * power < walk.bound;
}

inline bool is_accepted(const Node& node, const Group& group, const Walk& walk) {
  return acts_as_one_body(node, distance_squared(node, group, walk.coarse), walk) ||
         (node.opening < group.wide_squared &&
          acts_as_one_body(node, distance_of_nearest(node, group), walk));
}

// Returns the largest multipole term that may be omitted, given the accelerations of the coarse
// walk. Their squares may leave the range of float32.
inline float largest_neglect(const Group& group, float tolerance) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (int i = 0; i < kGroup; ++i) {
    const double x = group.ax[i], y = group.ay[i], z = group.az[i], square = x * x + y * y + z * z;
    least = std::min(least, square), most = std::max(most, square);
  }
  return static_cast<float>(tolerance * std::max(std::sqrt(least), kCancelled * std::sqrt(most)));
}

// A list of sources: ranges of nodes, or of sorted bodies. Their forces form one short sum.
struct Sources {
  void add(int first, int more) {
    begin[ranges] = first;
    end[ranges++] = first + more;
    count += more;
  }
  // True if `more` sources might not fit.
  bool is_full(int more) const { return count + more > kSources; }
  int ranges = 0, count = 0;
  int begin[kSources], end[kSources];
};

}  // namespace cpu_tree
