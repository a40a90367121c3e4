// A tree over the bodies of one system, as in step 15: bodies sorted along Hilbert's curve, nodes
// that are ranges of sorted bodies, and the moments of each node's mass.
//
// The nodes are built level by level from the root. The nodes of a level are independent of each
// other, so the loop that builds them and the loop that adds up moments need no locks.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "nbody/bodies.h"
#include "physics/vector3.h"

namespace cpu_tree {
using nbody::Body;
using nbody::Vector3;

constexpr int kLeafSize = 16;        // nodes this small are not split
constexpr int kGroup = 32;           // neighbours on the curve that walk the tree together
constexpr int kCoordinateBits = 21;  // a key has three times as many bits
// Bodies of a node share more leading bits (of keys, then of indices) than bodies of its parent, so
// the number of bits limits the depth.
constexpr int kDepth = 3 * kCoordinateBits + 32;
constexpr int kWorthATeam = 2048;  // with fewer bodies or nodes, one thread is faster than many

// Float32 rounds a centre of mass to 1e-7 of its coordinates. A node's size counts as at least this
// share of its coordinates, so that the rounding is small compared with the opening angle's error.
constexpr double kRoundingRadius = 3e-4;

// A node fills a cache line.
struct alignas(64) Node {
  int first = 0, count = 0;   // its range of sorted bodies
  int child = 0;              // index of the first of its two children; 0: a leaf
  float opening = 0;          // squared distance beyond which it may act as one body
  float x = 0, y = 0, z = 0;  // centre of mass
  float mass = 0;
  float radius = 0;  // no body of the node is farther than this from the centre of mass
  // 3 times the sum of m x x, m x y, ... around the centre
  float xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;
  float half_trace = 0;  // - (xx + yy + zz) / 2
};
static_assert(sizeof(Node) == 64);

struct Entry {
  std::uint64_t key;
  int body;
  auto operator<=>(const Entry&) const = default;  // NOLINT(modernize-use-nullptr)
};

// Coordinates of cells, for as many bodies as a compiler may put into a vector.
constexpr int kCells = 16;
using Cells = std::array<std::uint32_t, kCells>;

// Inserts two zero bits before each bit of a number.
inline std::uint64_t spread_bits(std::uint64_t v) {
  v = (v | v << 32) & 0x001f00000000ffff;
  v = (v | v << 16) & 0x001f0000ff0000ff;
  v = (v | v << 8) & 0x100f00f00f00f00f;
  v = (v | v << 4) & 0x10c30c30c30c30c3;
  return (v | v << 2) & 0x1249249249249249;
}

// Transforms the coordinates within a cube so that the curve runs through the cube in the standard
// direction. If the coordinate has this bit set, flips the lower bits of x; otherwise exchanges the
// lower bits of x with the lower bits of the coordinate.
inline void turn(Cells& x, Cells& coordinate, int bit) {
  const std::uint32_t within = (1u << bit) - 1;
  for (std::size_t k = 0; k < kCells; ++k) {
    const std::uint32_t flip = -(coordinate[k] >> bit & 1) & within;
    const std::uint32_t exchange = (x[k] ^ coordinate[k]) & within & ~flip;
    x[k] ^= flip | exchange;
    coordinate[k] ^= exchange;
  }
}

// Replaces coordinates of cells by positions along Hilbert's curve (J. Skilling, AIP Conf. Proc.
// 707, 381, 2004). nbody/hilbert.h has the same curve for programs that include CUDA's headers.
inline std::array<std::uint64_t, kCells> along_the_curve(Cells x, Cells y, Cells z) {
  for (int bit = kCoordinateBits - 1; bit > 0; --bit)
    for (Cells* const coordinate : {&x, &y, &z}) turn(x, *coordinate, bit);
  Cells flips{};
  for (std::size_t k = 0; k < kCells; ++k) {
    y[k] ^= x[k];
    z[k] ^= y[k];
  }
  for (int bit = kCoordinateBits - 1; bit > 0; --bit)
    for (std::size_t k = 0; k < kCells; ++k) flips[k] ^= -(z[k] >> bit & 1) & ((1u << bit) - 1);
  std::array<std::uint64_t, kCells> keys;
  for (std::size_t k = 0; k < kCells; ++k)
    keys[k] = spread_bits(x[k] ^ flips[k]) << 2 | spread_bits(y[k] ^ flips[k]) << 1 |
              spread_bits(z[k] ^ flips[k]);
  return keys;
}

// The cube around all bodies: its lowest corner, and cells per unit of length.
struct Cube {
  float x, y, z, cells;
};

inline Cube cube_around(std::span<const Body> bodies) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float x = kInfinity, y = kInfinity, z = kInfinity;
  float to_x = -kInfinity, to_y = -kInfinity, to_z = -kInfinity;
  const std::size_t n = bodies.size();
#pragma omp parallel for if (n >= kWorthATeam) reduction(min                      \
                                                         : x, y, z) reduction(max \
                                                                              : to_x, to_y, to_z)
  for (std::size_t i = 0; i < n; ++i) {
    const Body& body = bodies[i];
    x = std::min(x, body.x), to_x = std::max(to_x, body.x);
    y = std::min(y, body.y), to_y = std::max(to_y, body.y);
    z = std::min(z, body.z), to_z = std::max(to_z, body.z);
  }
  const float edge = std::max({to_x - x, to_y - y, to_z - z});
  return {x, y, z, edge > 0 ? (1 << kCoordinateBits) / edge : 0.0f};
}

// A position that is outside the cube or NaN counts as a position in a cell at the cube's surface.
inline std::uint32_t cell_of(float position, float low, float cells) {
  constexpr float kLast = (1 << kCoordinateBits) - 1;
  return static_cast<std::uint32_t>(std::min(std::max(0.0f, cells * (position - low)), kLast));
}

// Sorts each half in its own task. Equal keys are ordered by index, so the result is the same for
// every number of threads.
inline void sort(Entry* first, Entry* last) {
  if (last - first < 16 * kWorthATeam) return std::sort(first, last);
  Entry* const middle = first + (last - first) / 2;
#pragma omp task
  sort(first, middle);
  sort(middle, last);
#pragma omp taskwait
  std::inplace_merge(first, middle, last);
}

class Tree {
 public:
  // Groups are filled up with copies of the last body, which exert no force.
  explicit Tree(int bodies)
      : n(bodies), padded((bodies + kGroup - 1) / kGroup * kGroup), entries_(size(n)) {
    for (std::vector<float>* const column : {&x, &y, &z, &mass}) column->resize(size(padded));
  }

  void build(std::span<const Body> bodies, float theta) {
    sort_bodies(bodies);
    split_nodes();
    for (std::size_t level = levels_.size() - 1; level-- > 0;) {
      const int begin = levels_[level], end = levels_[level + 1];
#pragma omp parallel for schedule(static) if (end - begin >= kWorthATeam / kLeafSize)
      for (int k = begin; k < end; ++k) sum(nodes[size(k)], theta);
    }
  }

  int body(int sorted) const { return entries_[size(sorted)].body; }

  int n, padded;
  std::vector<float> x, y, z, mass;  // columns of the sorted bodies
  std::vector<Node> nodes;           // level by level; the root is the first

 private:
  static std::size_t size(int number) { return static_cast<std::size_t>(number); }

  void sort_bodies(std::span<const Body> bodies) {
    const Cube cube = cube_around(bodies);
#pragma omp parallel for schedule(static) if (n >= kWorthATeam)
    for (int first = 0; first < n; first += kCells) {
      Cells cell_x{}, cell_y{}, cell_z{};
      const int end = std::min(n - first, kCells);
      for (int k = 0; k < end; ++k) {
        const Body& body = bodies[size(first + k)];
        cell_x[size(k)] = cell_of(body.x, cube.x, cube.cells);
        cell_y[size(k)] = cell_of(body.y, cube.y, cube.cells);
        cell_z[size(k)] = cell_of(body.z, cube.z, cube.cells);
      }
      const auto keys = along_the_curve(cell_x, cell_y, cell_z);
      for (int k = 0; k < end; ++k) entries_[size(first + k)] = {keys[size(k)], first + k};
    }
#pragma omp parallel if (n >= kWorthATeam)
#pragma omp single
    sort(entries_.data(), entries_.data() + n);
#pragma omp parallel for schedule(static) if (n >= kWorthATeam)
    for (int i = 0; i < padded; ++i) {
      const Body& from = bodies[size(body(std::min(i, n - 1)))];
      x[size(i)] = from.x, y[size(i)] = from.y, z[size(i)] = from.z;
      mass[size(i)] = i < n ? from.mass : 0;
    }
  }

  // Returns the number of leading bits that two sorted keys have in common; if the keys are equal,
  // adds the leading bits that the indices have in common.
  int common_bits(int i, int j) const {
    const std::uint64_t difference = entries_[size(i)].key ^ entries_[size(j)].key;
    return difference != 0 ? std::countl_zero(difference)
                           : 64 + std::countl_zero(static_cast<unsigned>(i ^ j));
  }

  // Returns the number of bodies of a node's first child. Each of these bodies shares more leading
  // bits of its key with the node's first body than the node's last body does.
  int split(const Node& node) const {
    const int least = common_bits(node.first, node.first + node.count - 1);
    int low = 1, high = node.count - 1;  // the size is in this range
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (common_bits(node.first, node.first + middle) > least) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  void split_nodes() {
    nodes.assign(1, Node{.first = 0, .count = n});
    levels_.assign(1, 0);
    while (levels_.back() < static_cast<int>(nodes.size())) {
      const int begin = levels_.back(), end = static_cast<int>(nodes.size());
      int next = end;
      for (int k = begin; k < end; ++k) {
        Node& node = nodes[size(k)];
        node.child = node.count > kLeafSize ? next : 0;
        next += node.count > kLeafSize ? 2 : 0;
      }
      nodes.resize(size(next));
#pragma omp parallel for schedule(static) if (end - begin >= kWorthATeam / kLeafSize)
      for (int k = begin; k < end; ++k) {
        const Node& node = nodes[size(k)];
        if (node.child == 0) continue;
        const int left = split(node);
        nodes[size(node.child)] = {.first = node.first, .count = left};
        nodes[size(node.child + 1)] = {.first = node.first + left, .count = node.count - left};
      }
      levels_.push_back(end);
    }
  }

  // A part of a node: a body, or a child with its moments. Sums are in float64, and only their
  // results are rounded to float32.
  struct Part {
    Vector3 centre;
    double mass;
    const Node* child = nullptr;
  };
  Part part(const Node& node, int k) const {
    const std::size_t i = size(node.first + k);
    if (node.child == 0) return {{x[i], y[i], z[i]}, mass[i]};
    const Node& child = nodes[size(node.child + k)];
    return {{child.x, child.y, child.z}, child.mass, &child};
  }

  void sum(Node& node, float theta) const {
    const int parts = node.child == 0 ? node.count : 2;
    Vector3 weighted;
    double total = 0;
    for (int k = 0; k < parts; ++k) {
      const Part p = part(node, k);
      weighted += p.mass * p.centre;
      total += p.mass;
    }
    const Vector3 mean = total > 0 ? 1 / total * weighted : part(node, 0).centre;
    node.x = static_cast<float>(mean.x);
    node.y = static_cast<float>(mean.y);
    node.z = static_cast<float>(mean.z);
    node.mass = static_cast<float>(total);
    sum_around(node, {node.x, node.y, node.z}, parts);
    const double farthest = std::max({std::abs(mean.x), std::abs(mean.y), std::abs(mean.z)});
    const double used = std::max<double>(node.radius, kRoundingRadius * farthest);
    node.opening = theta > 0 ? static_cast<float>(used / theta * (used / theta))
                             : std::numeric_limits<float>::infinity();
  }

  void sum_around(Node& node, const Vector3& centre, int parts) const {
    double radius = 0, xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;
    for (int k = 0; k < parts; ++k) {
      const Part p = part(node, k);
      const Vector3 d = p.centre - centre, m = 3 * p.mass * d;
      xx += m.x * d.x, yy += m.y * d.y, zz += m.z * d.z;
      xy += m.x * d.y, xz += m.x * d.z, yz += m.y * d.z;
      double reach = length(d);
      if (p.child != nullptr) {
        const Node& c = *p.child;
        xx += c.xx, yy += c.yy, zz += c.zz, xy += c.xy, xz += c.xz, yz += c.yz;
        reach += c.radius;
      }
      radius = std::max(radius, reach);
    }
    node.radius = static_cast<float>(radius);
    node.xx = static_cast<float>(xx), node.yy = static_cast<float>(yy);
    node.zz = static_cast<float>(zz), node.xy = static_cast<float>(xy);
    node.xz = static_cast<float>(xz), node.yz = static_cast<float>(yz);
    node.half_trace = static_cast<float>(-0.5 * (xx + yy + zz));
  }

  std::vector<Entry> entries_;  // the keys and numbers of the bodies, sorted
  std::vector<int> levels_;     // the first node of each level, then the number of nodes
};

}  // namespace cpu_tree
