// A tree over the bodies of one system: its nodes, and the moments of their mass.
//
// Bodies are sorted along Hilbert's curve (nbody/hilbert.h). Bodies whose keys begin with the same
// bits are in one cell of the cube around all bodies and are neighbours in the array, so a node is
// a range of sorted bodies. One thread per node finds its range from the keys around one end
// (Karras, High Performance Graphics 2012), in one kernel without locks or levels. If keys are
// equal, the indices are compared.
#pragma once

#include "nbody/box.h"
#include "nbody/cub.h"
#include "nbody/cuda.h"
#include "nbody/hilbert.h"
#include "nbody/step.h"

namespace tree {
using namespace nbody;

constexpr int kLeafSize = TUNABLE(LEAF_SIZE, 16);  // nodes this small are not split
constexpr int kBlockSize = 256;
static_assert(kLeafSize >= 1 && kLeafSize <= 32, "a warp loads a leaf at once");

// Float32 rounds a centre of mass to 1e-7 of its coordinates. A node's size counts as at least this
// share of its coordinates, so that the rounding is small compared with the opening angle's error.
constexpr float kRoundingRadius = 3e-4f;
using Position = float4;  // w is the mass

// A node takes 64 bytes; only the first 32 are needed to decide whether to open it.
struct alignas(64) Node {
  float4 centre;    // centre of mass; w: squared distance beyond which it acts as one body
  int left, right;  // children; in a leaf its first body, and minus the number of its bodies
  int parent;       // -1: none
  int arrived;      // number of children whose moments are known
  float4 squares;   // 3 times the sum of m x^2, m y^2, m z^2 around the centre; w: the mass
  float4 products;  // 3 times the sum of m x y, m x z, m y z; w: the radius: no body is farther
};

static __global__ void make_keys(const Position* __restrict__ positions,
                                 const Box* __restrict__ cube, CurveKey* __restrict__ keys,
                                 int* __restrict__ order, int n) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n) return;
  keys[i] = hilbert_key(xyz(positions[i]), *cube);
  order[i] = i;
}

// Returns the number of leading bits that two sorted keys have in common; -1 past either end.
__device__ inline int common_bits(const CurveKey* __restrict__ keys, int n, int i, long long j) {
  if (j < 0 || j >= n) return -1;
  const CurveKey difference = keys[i] ^ keys[j];
  return difference != 0 ? __clzll(static_cast<long long>(difference))
                         : 64 + __clz(i ^ static_cast<int>(j));
}

// Inner nodes have the numbers 0 (the root) to n - 2; a leaf's number is n plus its first body's.
__device__ inline int link(Node* nodes, int n, int parent, int inner, int first, int count) {
  const int number = count > kLeafSize ? inner : n + first;
  nodes[number].parent = parent;
  if (number >= n) nodes[number].left = first, nodes[number].right = -count;
  return number;
}

// Finds the inner nodes, down to single bodies. Body i is at one end of node i. The node extends to
// the side where keys share more bits with key i, as far as they share more than on the other side.
static __global__ void make_nodes(const Position* __restrict__ positions,
                                  const int* __restrict__ order, const CurveKey* __restrict__ keys,
                                  Position* __restrict__ bodies, Node* __restrict__ nodes, int n) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n) return;
  bodies[i] = positions[order[i]];
  if (i == 0) link(nodes, n, -1, 0, 0, n);
  if (i == n - 1) return;
  const int side = common_bits(keys, n, i, i + 1LL) > common_bits(keys, n, i, i - 1) ? 1 : -1;
  const auto bits = [&](long long length) { return common_bits(keys, n, i, i + side * length); };
  long long most = 2;
  while (bits(most) > bits(-1)) most *= 2;
  const auto reach = [&](int least) {  // greatest length with more than `least` common bits
    long long length = 0;
    for (long long step = most / 2; step > 0; step /= 2)
      if (bits(length + step) > least) length += step;
    return static_cast<int>(length);
  };
  const int length = reach(bits(-1));
  nodes[i].right = nodes[i].arrived = 0;  // a node within a leaf has no right child
  if (length < kLeafSize) return;
  const int near = reach(bits(length));  // on this side of the split keys share one more bit
  const int first = side > 0 ? i : i - length, split = side > 0 ? i + near : i - near - 1;
  nodes[i].left = link(nodes, n, i, split, first, split - first + 1);
  nodes[i].right = link(nodes, n, i, split + 1, split + 1, first + length - split);
}

// A part of a node: a body, or a child with its moments.
struct Part {
  float4 centre;  // w: mass
  float radius = 0;
  float3 squares = {}, products = {};
};

template <class PartOf>
__device__ void sum(Node& node, int parts, float theta, const PartOf& part) {
  const float3 near = xyz(part(0).centre);  // positions relative to this body keep more digits
  float3 weighted{};
  float mass = 0;
  for (int k = 0; k < parts; ++k) {
    const float4 centre = part(k).centre;
    weighted = weighted + centre.w * (xyz(centre) - near);
    mass += centre.w;
  }
  const float3 c = mass > 0 ? near + 1 / mass * weighted : near;
  float3 squares{}, products{};
  float radius = 0;
  for (int k = 0; k < parts; ++k) {
    const Part p = part(k);
    const float3 d = xyz(p.centre) - c, m = 3 * p.centre.w * d;
    squares = squares + p.squares + float3{m.x * d.x, m.y * d.y, m.z * d.z};
    products = products + p.products + float3{m.x * d.y, m.x * d.z, m.y * d.z};
    radius = fmaxf(radius, p.radius + sqrtf(dot(d, d)));
  }
  const float size = fmaxf(radius, kRoundingRadius * largest(abs(c)));
  const float opening = theta > 0 ? size / theta : INFINITY;
  node.centre = {c.x, c.y, c.z, opening * opening};
  node.squares = {squares.x, squares.y, squares.z, mass};
  node.products = {products.x, products.y, products.z, radius};
}

// Adds moments from the leaves to the root. The thread of an inner node starts with those children
// that are leaves. When two threads have reached a node, the second continues to the parent.
static __global__ void find_moments(const Position* __restrict__ bodies, Node* nodes, int n,
                                    float theta) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  const auto sum_leaf = [&](Node& leaf) {
    sum(leaf, -leaf.right, theta, [&](int k) { return Part{bodies[leaf.left + k]}; });
  };
  if (i == 0 && n <= kLeafSize) sum_leaf(nodes[n]);
  if (i >= n - 1 || nodes[i].right == 0) return;
  int arriving = 0;
  for (const int child : {nodes[i].left, nodes[i].right})
    if (child >= n) sum_leaf(nodes[child]), ++arriving;
  for (int k = i; k >= 0 && arriving > 0; k = nodes[k].parent) {
    __threadfence();  // a thread that sees the count also sees the moments
    if (atomicAdd(&nodes[k].arrived, arriving) + arriving < 2) return;
    __threadfence();
    sum(nodes[k], 2, theta, [&](int child) {
      const Node& node = nodes[child == 0 ? nodes[k].left : nodes[k].right];
      const float4 c = node.centre, s = node.squares, p = node.products;
      return Part{{c.x, c.y, c.z, s.w}, p.w, xyz(s), xyz(p)};
    });
    arriving = 1;
  }
}

struct Tree {
  int n;
  int root() const { return n > kLeafSize ? 0 : n; }
  void build(const Position* positions, float theta) {
    const int blocks = (n - 1) / kBlockSize + 1;
    work.run([&](void* memory, std::size_t& bytes) {
      return cub::DeviceReduce::TransformReduce(memory, bytes, positions, cube.get(), n,
                                                BoxAround(), BoxOf(), empty_box());
    });
    make_keys<<<blocks, kBlockSize>>>(positions, cube.get(), keys.get(), numbers.get(), n);
    work.run([&](void* memory, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(memory, bytes, keys.get(), sorted_keys.get(),
                                             numbers.get(), order.get(), n, 0, 3 * kCoordinateBits);
    });
    make_nodes<<<blocks, kBlockSize>>>(positions, order.get(), sorted_keys.get(), bodies.get(),
                                       nodes.get(), n);
    find_moments<<<blocks, kBlockSize>>>(bodies.get(), nodes.get(), n, theta);
  }
  std::size_t size = static_cast<std::size_t>(n);
  DeviceArray<Position> bodies{size};           // bodies in sorted order
  DeviceArray<int> numbers{size}, order{size};  // 0, 1, 2, ...; the index of each sorted body
  DeviceArray<CurveKey> keys{size}, sorted_keys{size};
  DeviceArray<Node> nodes{2 * size};
  DeviceArray<Box> cube{1};  // the cube around all bodies
  CubMemory work{};
};

}  // namespace tree
