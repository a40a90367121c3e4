#include "physics/validation/tree_reference.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "physics/reference.h"

namespace nbody {
namespace {

// Constants of the steps' trees. A node counts as at least kLeastSize times as large as the
// largest coordinate of its centre. A node acts as one body beyond a certain distance; the box of a
// group is wide if its width is at least kWide times that distance.
constexpr double kLeastSize = 3e-4, kWide = 8;
constexpr int kBits = 21;  // bits of a cell's coordinate

using Cell = std::array<unsigned, 3>;

// Returns the index of a cell along Hilbert's curve (J. Skilling, AIP Conf. Proc. 707, 381, 2004).
unsigned long long along_the_curve(Cell x) {
  for (unsigned q = 1u << (kBits - 1); q > 1; q >>= 1) {
    for (unsigned& coordinate : x) {
      const unsigned low = q - 1;
      if (coordinate & q) {
        x[0] ^= low;
      } else {
        const unsigned exchanged = (x[0] ^ coordinate) & low;
        x[0] ^= exchanged;
        coordinate ^= exchanged;
      }
    }
  }
  x[1] ^= x[0];
  x[2] ^= x[1];
  unsigned flips = 0;
  for (unsigned q = 1u << (kBits - 1); q > 1; q >>= 1)
    if (x[2] & q) flips ^= q - 1;
  unsigned long long key = 0;
  for (int bit = kBits - 1; bit >= 0; --bit)
    for (unsigned coordinate : x) key = key << 1 | ((coordinate ^ flips) >> bit & 1);
  return key;
}

template <class Choose>
Vector3 each(const Vector3& a, const Vector3& b, const Choose& choose) {
  return {choose(a.x, b.x), choose(a.y, b.y), choose(a.z, b.z)};
}
Vector3 least(const Vector3& a, const Vector3& b) {
  return each(a, b, [](double p, double q) { return std::min(p, q); });
}
Vector3 most(const Vector3& a, const Vector3& b) {
  return each(a, b, [](double p, double q) { return std::max(p, q); });
}

// Returns the bodies' keys along the curve, computed in float32 as in the steps.
std::vector<unsigned long long> keys_of(std::span<const Body> bodies) {
  Cell cell;
  float low[3], edge = 0;
  constexpr float Body::*kAxes[] = {&Body::x, &Body::y, &Body::z};
  for (int axis = 0; axis < 3; ++axis) {
    const auto [lowest, highest] = std::ranges::minmax(bodies, {}, kAxes[axis]);
    low[axis] = lowest.*kAxes[axis];
    edge = std::max(edge, highest.*kAxes[axis] - low[axis]);
  }
  const float cells = edge > 0 ? (1 << kBits) / edge : 0.0f;
  std::vector<unsigned long long> keys;
  for (const Body& body : bodies) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const float c = cells * (body.*kAxes[axis] - low[axis]);
      cell[axis] = static_cast<unsigned>(std::clamp(c, 0.0f, (1 << kBits) - 1.0f));
    }
    keys.push_back(along_the_curve(cell));
  }
  return keys;
}

// Returns how much a node's force may change if each of its bodies adds nothing to the sums of m x
// and m x x, because these products are too small for float32.
double lost_moments(int bodies, double s) {
  const double lost = 4 * std::numeric_limits<float>::min() / (s * s);
  return lost * (1 + bodies * (1 + 4 / s) / s);
}

}  // namespace

TreeReference::TreeReference(std::span<const Body> bodies, TreeDesign design, float theta)
    : design_(design), theta_(theta), place_(bodies.size()) {
  const std::vector<unsigned long long> keys = keys_of(bodies);
  std::vector<int> order(bodies.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int i) { return keys[static_cast<std::size_t>(i)]; });
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto i = static_cast<std::size_t>(order[k]);
    place_[i] = static_cast<int>(k);
    keys_.push_back(keys[i]);
    positions_.push_back(position(bodies[i]));
    masses_.push_back(bodies[i].mass);
  }
  build(0, static_cast<int>(bodies.size()));
}

// Builds the tree over these sorted bodies; returns the index of the root node.
int TreeReference::build(int first, int count) {
  Node node;
  node.first = first, node.count = count;
  if (count <= design_.leaf) {
    std::vector<Node> parts;
    for (int k = first; k < first + count; ++k) {
      const auto i = static_cast<std::size_t>(k);
      Node& part = parts.emplace_back();
      part.centre = positions_[i], part.mass = masses_[i];
    }
    sum(node, parts);
  } else {
    // Finds the highest bit that differs among the keys (among the indices if all keys are equal)
    // and splits the bodies where this bit changes.
    const auto key = [&](int k) { return keys_[static_cast<std::size_t>(k)]; };
    const int last = first + count - 1;
    const auto differs = [&](int k) {
      const auto apart = key(first) ^ key(last);
      const auto bits = apart != 0 ? key(first) ^ key(k) : static_cast<unsigned>(first ^ k);
      return bits >= std::bit_floor(apart != 0 ? apart : static_cast<unsigned>(first ^ last));
    };
    int same = first, other = last;
    while (other - same > 1) {
      const int middle = same + (other - same) / 2;
      (differs(middle) ? other : same) = middle;
    }
    node.left = build(first, other - first);
    node.right = build(other, last + 1 - other);
    const Node parts[] = {nodes_[static_cast<std::size_t>(node.left)],
                          nodes_[static_cast<std::size_t>(node.right)]};
    sum(node, parts);
  }
  nodes_.push_back(node);
  return static_cast<int>(nodes_.size()) - 1;
}

void TreeReference::sum(Node& node, std::span<const Node> parts) const {
  Vector3 weighted;
  const Vector3 near = parts[0].centre;
  for (const Node& p : parts) {
    weighted += p.mass * (p.centre - near);
    node.mass += p.mass;
  }
  node.centre = node.mass > 0 ? near + 1 / node.mass * weighted : near;
  for (const Node& p : parts) {
    const Vector3 d = p.centre - node.centre, md = p.mass * d;
    const double own[] = {md.x * d.x, md.y * d.y, md.z * d.z, md.x * d.y, md.x * d.z, md.y * d.z};
    for (int k = 0; k < 6; ++k) node.m[k] += p.m[k] + own[k];
    node.radius = std::max(node.radius, p.radius + length(d));
  }
  const Vector3& c = node.centre;
  const double far = std::max({std::abs(c.x), std::abs(c.y), std::abs(c.z)});
  const double size = std::max(node.radius, kLeastSize * far);
  const double opening = theta_ > 0 ? size / theta_ : std::numeric_limits<double>::infinity();
  node.opening_squared = opening * opening;
  // The first term allows for the error of the radius, a sum of up to sixty rounded distances. The
  // second term allows for the error of the centre, which grows with the centre's coordinates.
  node.blur = 64 * unit_roundoff<float> + (size > 0 ? 8 * unit_roundoff<float> * far / size : 0);
}

// Measures distances from a box around the group's bodies or, if the box is wide, from each body.
TreeReference::Choice TreeReference::choose(const Node& node, const Group& group) const {
  const auto apart = [&](const Vector3& low, const Vector3& high) {
    const Vector3 d = most(most(low - node.centre, node.centre - high), {});
    return dot(d, d);
  };
  const double opening = node.opening_squared;
  const auto near_edge = [&](double square) {
    return std::abs(square - opening) <= node.blur * opening;
  };
  const double box = apart(group.low, group.high);
  const Vector3 width = 1 / kWide * (group.high - group.low);
  const double wide = dot(width, width);
  double closest = box;
  if (box <= opening || near_edge(box)) {
    if (opening < wide || near_edge(wide)) {
      closest = std::numeric_limits<double>::infinity();
      for (int k = group.first; k < group.end; ++k) {
        const Vector3& x = positions_[static_cast<std::size_t>(k)];
        closest = std::min(closest, apart(x, x));
      }
    }
  }
  const bool asked = closest > box && opening < wide;
  const bool accepted = box > opening || (asked && closest > opening);
  return {accepted, near_edge(box) || (closest > box && (near_edge(closest) || near_edge(wide)))};
}

TreeReference::Force TreeReference::force(int body, int multipole, double softening_squared) const {
  const int place = place_[static_cast<std::size_t>(body)];
  Group group{{}, {}, place / design_.group * design_.group, 0};
  group.end = std::min(group.first + design_.group, static_cast<int>(positions_.size()));
  group.low = group.high = positions_[static_cast<std::size_t>(group.first)];
  for (int k = group.first; k < group.end; ++k) {
    group.low = least(group.low, positions_[static_cast<std::size_t>(k)]);
    group.high = most(group.high, positions_[static_cast<std::size_t>(k)]);
  }
  Force result;
  add(nodes_.back(), group, positions_[static_cast<std::size_t>(place)], multipole,
      softening_squared, result);
  return result;
}

void TreeReference::add(const Node& node, const Group& group, const Vector3& at, int multipole,
                        double softening_squared, Force& force) const {
  const Choice choice = choose(node, group);
  if (!choice.accepted && !choice.at_the_edge) {
    const Force parts = opened(node, group, at, multipole, softening_squared);
    force.acceleration += parts.acceleration;
    force.allowance += parts.allowance;
    force.lost += parts.lost;
    return;
  }
  // Adds the first terms of the Taylor series of the softened force around the centre.
  const Vector3 d = node.centre - at;
  const double s2 = dot(d, d) + softening_squared, s = std::sqrt(s2), inverse_cube = 1 / (s2 * s);
  const double* m = node.m;
  const Vector3 md{m[0] * d.x + m[3] * d.y + m[4] * d.z, m[3] * d.x + m[1] * d.y + m[5] * d.z,
                   m[4] * d.x + m[5] * d.y + m[2] * d.z};
  Vector3 whole = node.mass * inverse_cube * d;
  if (multipole == 2)
    whole +=
        1 / (s2 * s2 * s) * ((7.5 * dot(d, md) / s2 - 1.5 * (m[0] + m[1] + m[2])) * d - 3 * md);
  const Vector3& c = node.centre;
  const double far = std::max({std::abs(c.x), std::abs(c.y), std::abs(c.z)});
  // The error of a centre changes the force by up to m / s^3 times this error, although the force
  // itself may be far smaller than m / s^2 where the softening is large.
  force.allowance += 8 * unit_roundoff<float> * far * node.mass * inverse_cube;
  force.lost += lost_below_range<float>(node.mass, inverse_cube, length(d));
  force.lost += lost_moments(node.count, s);
  if (choice.at_the_edge) {
    const Force parts = opened(node, group, at, multipole, softening_squared);
    force.allowance += parts.allowance + length(parts.acceleration - whole);
    force.lost += parts.lost;
    if (!choice.accepted) whole = parts.acceleration;
  }
  force.acceleration += whole;
}

TreeReference::Force TreeReference::opened(const Node& node, const Group& group, const Vector3& at,
                                           int multipole, double softening_squared) const {
  Force force;
  if (node.left >= 0) {
    for (const int child : {node.left, node.right})
      add(nodes_[static_cast<std::size_t>(child)], group, at, multipole, softening_squared, force);
    return force;
  }
  for (int k = node.first; k < node.first + node.count; ++k) {
    const auto i = static_cast<std::size_t>(k);
    const Vector3 d = positions_[i] - at;
    const double s2 = dot(d, d) + softening_squared;
    const double inverse_cube = 1 / (s2 * std::sqrt(s2));
    force.acceleration += masses_[i] * inverse_cube * d;
    force.lost += lost_below_range<float>(masses_[i], inverse_cube, length(d));
  }
  return force;
}

}  // namespace nbody
