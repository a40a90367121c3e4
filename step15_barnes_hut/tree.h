// A tree over the bodies of one system: its nodes, and the moments of their mass.
//
// Bodies are sorted along Hilbert's curve (nbody/hilbert.h). Bodies whose keys begin with the same
// bits are in one cell of the cube around all bodies and are neighbours in the array, so a node is
// a range of sorted bodies. One thread per node finds its range from the keys around one end
// (Karras, High Performance Graphics 2012), in one kernel without locks or levels. If keys are
// equal, the indices are compared. The threads search only for nodes with more bodies than a leaf,
// and a list of the leaves is made, so that all lanes of a warp have work.
#pragma once

#include <algorithm>
#include <bit>
#include <cuda/atomic>

#include "nbody/box.h"
#include "nbody/cub.h"
#include "nbody/cuda.h"
#include "nbody/hilbert.h"
#include "nbody/step.h"

namespace tree {
using namespace nbody;

constexpr int kLeafSize = TUNABLE(LEAF_SIZE, 16);      // nodes this small are not split
constexpr int kReach = std::bit_ceil(kLeafSize + 1u);  // a power of two, for the search by halves
constexpr int kBlockSize = 256;
constexpr int kMomentsBlock = 64;  // smaller, because a block waits for its longest climb
constexpr int kKeyBits = 3 * kCoordinateBits;
constexpr int kSlot = TUNABLE(SLOT, 16);      // bodies of a slot, in the previous build
constexpr int kCrowd = TUNABLE(CROWD, 1024);  // this many bodies in a slot are too many to compare
constexpr int kLooks = 64;                    // builds between two searches for crowded slots
static_assert(kLeafSize >= 1 && kLeafSize <= 32, "a warp loads a leaf at once");

// Float32 rounds a centre of mass to 1e-7 of its coordinates. A node's size counts as at least this
// share of its coordinates, so that the rounding is small compared with the opening angle's error.
constexpr float kRoundingRadius = 3e-4f;
using Position = float4;  // w is the mass

// A node takes 64 bytes; only the first 32 are needed to decide whether to open it.
struct alignas(64) Node {
  float4 centre;    // centre of mass; w: squared distance beyond which it acts as one body
  int left, right;  // children; in a leaf: its first body, and minus its number of bodies
  int parent;       // -1: none
  int arrived;      // 1: the moments of one child are known
  float4 squares;   // 3 times the sum of m x^2, m y^2, m z^2 around the centre; w: the mass
  float4 products;  // 3 times the sum of m x y, m x z, m y z; w: the radius (no body is farther)
};

// A body on its way to its place among the sorted bodies.
struct alignas(16) Ticket {
  CurveKey key;
  int slot;
  int number;  // of the body in its slot, in any order; later the body's index
};

// The next build sorts with this data: the first key of each slot, counters that start at 0, and
// whether a slot had too many bodies.
struct Slots {
  CurveKey* __restrict__ first_keys;
  int* __restrict__ counts;
  int* __restrict__ crowded;
  int* __restrict__ leaf_count;

  __device__ void reset() const { *crowded = *leaf_count = 0; }
  __device__ void begin(int place, CurveKey key) const {
    if (place % kSlot == 0) first_keys[place / kSlot] = key, counts[place / kSlot] = 0;
  }
};

static __global__ void make_keys(const Position* __restrict__ positions,
                                 const Box* __restrict__ cube, CurveKey* __restrict__ keys,
                                 int* __restrict__ order, Slots slots, int n) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i == 0) slots.reset();
  if (i >= n) return;
  keys[i] = hilbert_key(xyz(positions[i]), *cube);
  order[i] = i;
}

// Copies bodies that were sorted by all bits of their keys, and begins slots.
static __global__ void gather(const Position* __restrict__ positions, const int* __restrict__ order,
                              const CurveKey* __restrict__ keys, Position* __restrict__ bodies,
                              Slots slots, int n) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n) return;
  bodies[i] = positions[order[i]];
  slots.begin(i, keys[i]);
  if (i >= kCrowd && keys[i] == keys[i - kCrowd]) atomicOr(slots.crowded, 1);
}

// Counts the bodies of each slot. Threads follow the order of the previous build, because then the
// threads of a warp find nearly the same slots.
static __global__ void take_tickets(const Position* __restrict__ positions,
                                    const Box* __restrict__ cube, const int* __restrict__ order,
                                    Slots slots, Ticket* __restrict__ tickets, int n) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x, last = (n - 1) / kSlot;
  if (i == 0) slots.reset();
  if (i >= n) return;
  const CurveKey key = hilbert_key(xyz(positions[order[i]]), *cube);
  // Finds the last slot that begins with a key up to this one, or else the first. Most bodies stay
  // near their slot, so the search begins there and doubles its steps.
  int slot = i / kSlot, step = 1;
  for (; slot > 0 && slots.first_keys[slot] > key; step *= 2) slot = max(slot - step, 0);
  if (step == 1)
    for (; step <= last - slot && slots.first_keys[slot + step] <= key; step *= 2) slot += step;
  for (step /= 2; step > 0; step /= 2)
    if (step <= last - slot && slots.first_keys[slot + step] <= key) slot += step;
  tickets[i] = {key, slot, atomicAdd(&slots.counts[slot], 1)};
}

// Puts each body into its slot, at any place there.
static __global__ void fill_slots(const Ticket* __restrict__ tickets, const int* __restrict__ order,
                                  const int* __restrict__ begins, Ticket* __restrict__ filled,
                                  int n) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n) return;
  const Ticket ticket = tickets[i];
  filled[begins[ticket.slot] + ticket.number] = {ticket.key, ticket.slot, order[i]};
}

// Puts bodies in their places: each body counts those of its slot that come before it. Bodies with
// equal keys are sorted by their index.
static __global__ void settle(const Position* __restrict__ positions,
                              const Ticket* __restrict__ filled, const int* __restrict__ begins,
                              CurveKey* __restrict__ keys, int* __restrict__ order,
                              Position* __restrict__ bodies, Slots slots, int n) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n) return;
  const Ticket own = filled[i];
  const int begin = begins[own.slot], end = own.slot < (n - 1) / kSlot ? begins[own.slot + 1] : n;
  int place = begin;
#pragma unroll 4
  for (int j = begin; j < end; ++j) {
    const Ticket other = filled[j];
    place += other.key < own.key || (other.key == own.key && other.number < own.number);
  }
  if (end - begin > kCrowd) atomicOr(slots.crowded, 1);
  keys[place] = own.key;
  order[place] = own.number;
  bodies[place] = positions[own.number];
  slots.begin(place, own.key);
}

// Returns the number of leading bits that two sorted keys have in common; -1 past either end.
__device__ inline int common_bits(const CurveKey* __restrict__ keys, int n, int i, long long j) {
  if (j < 0 || j >= n) return -1;
  const CurveKey difference = keys[i] ^ keys[j];
  return difference != 0 ? __clzll(static_cast<long long>(difference))
                         : 64 + __clz(i ^ static_cast<int>(j));
}

// Inner nodes are numbered 0 (the root) to n - 2; a leaf has n plus the index of its first body.
struct Links {
  Node* __restrict__ nodes;
  int* __restrict__ leaves;
  int* __restrict__ leaf_count;

  __device__ int link(int n, int parent, int inner, int first, int count) const {
    const int number = count > kLeafSize ? inner : n + first;
    nodes[number].parent = parent;
    if (number < n) return number;
    nodes[number].left = first, nodes[number].right = -count;
    leaves[atomicAdd(leaf_count, 1)] = number;  // in any order
    return number;
  }
};

// Finds inner node i (more bodies than a leaf). Its range goes from body i to the side where keys
// share more bits with key i, as far as they share more than the next key on the other side does.
__device__ inline void make_node(const CurveKey* __restrict__ keys, int n, int i, int side,
                                 const Links& links) {
  const auto bits = [&](long long length) { return common_bits(keys, n, i, i + side * length); };
  long long most = kReach;
  while (bits(most) > bits(-1)) most *= 2;
  const auto reach = [&](int least) {  // greatest length with more than `least` common bits
    long long length = 0;
    for (long long step = most / 2; step > 0; step /= 2)
      if (bits(length + step) > least) length += step;
    return static_cast<int>(length);
  };
  const int length = reach(bits(-1));
  const int near = reach(bits(length));  // on this side of the split, keys share one more bit
  const int first = side > 0 ? i : i - length, split = side > 0 ? i + near : i - near - 1;
  links.nodes[i].arrived = 0;
  links.nodes[i].left = links.link(n, i, split, first, split - first + 1);
  links.nodes[i].right = links.link(n, i, split + 1, split + 1, first + length - split);
}

// Finds the inner nodes. Few bodies are at a node's end, so a block first collects these bodies.
static __global__ void make_nodes(const CurveKey* __restrict__ keys, Links links, int n) {
  __shared__ int found[kBlockSize], sides[kBlockSize], count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();  // the count is 0 before any thread adds to it
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i == 0) links.link(n, -1, 0, 0, n);
  if (i < n - 1) {
    const int before = common_bits(keys, n, i, i - 1), after = common_bits(keys, n, i, i + 1);
    const int side = after > before ? 1 : -1;
    if (common_bits(keys, n, i, i + side * kLeafSize) > min(before, after)) {
      const int place = atomicAdd(&count, 1);
      found[place] = i, sides[place] = side;
    }
  }
  __syncthreads();  // all nodes of the block have been collected
  const int k = threadIdx.x;
  if (k < count) make_node(keys, n, found[k], sides[k], links);
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
#pragma unroll 4
  for (int k = 0; k < parts; ++k) {
    const float4 centre = part(k).centre;
    weighted = weighted + centre.w * (xyz(centre) - near);
    mass += centre.w;
  }
  const float3 c = mass > 0 ? near + 1 / mass * weighted : near;
  float3 squares{}, products{};
  float radius = 0;
#pragma unroll 4
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

// Adds moments from a leaf up to the root. When two threads have reached a node, the second
// continues to the parent.
__device__ inline void climb(const Position* __restrict__ bodies, Node* nodes, Node& leaf,
                             float theta) {
  sum(leaf, -leaf.right, theta, [&](int k) { return Part{bodies[leaf.left + k]}; });
  for (int k = leaf.parent; k >= 0;) {
    const int children[] = {nodes[k].left, nodes[k].right}, parent = nodes[k].parent;
    // A thread that reads 1 also sees the moments of the other child. Most threads that go on to
    // the parent come long after the other thread; reading takes a fraction of the time of
    // counting.
    const cuda::atomic_ref<int, cuda::thread_scope_device> arrived(nodes[k].arrived);
    if (arrived.load(cuda::memory_order_acquire) == 0 &&
        arrived.fetch_add(1, cuda::memory_order_acq_rel) == 0)
      return;
    nodes[k].arrived = 0;  // if the next step keeps the tree
    sum(nodes[k], 2, theta, [&](int child) {
      const Node& node = nodes[children[child]];
      const float4 c = node.centre, s = node.squares, p = node.products;
      return Part{{c.x, c.y, c.z, s.w}, p.w, xyz(s), xyz(p)};
    });
    k = parent;
  }
}

// Each thread climbs from one leaf, or from several if most leaves are less than half full.
static __global__ void find_moments(const Position* __restrict__ bodies, Node* nodes,
                                    const int* __restrict__ leaves,
                                    const int* __restrict__ leaf_count, float theta) {
  const int threads = gridDim.x * kMomentsBlock;
  for (int k = blockIdx.x * kMomentsBlock + threadIdx.x; k < *leaf_count; k += threads)
    climb(bodies, nodes, nodes[leaves[k]], theta);
}

struct Tree {
  int n;
  cudaStream_t stream = nullptr;  // in which the tree is built
  int root() const { return n > kLeafSize ? 0 : n; }

  // Builds the tree of a time step. Step 0 begins a new system. Steps that are not multiples of
  // `rebuild_every` keep the order and the nodes of the step before.
  void build(const Position* positions, float theta, int step = 0, int rebuild_every = 1) {
    sort(positions, step, rebuild_every);
    connect(theta);
  }

  void sort(const Position* positions, int step = 0, int rebuild_every = 1) {
    const Slots slots{first_keys.get(), counts.get(), crowded.get(), leaf_count.get()};
    is_kept = step % rebuild_every != 0;
    if (is_kept)
      gather<<<blocks, kBlockSize, 0, stream>>>(positions, order.get(), keys.get(), bodies.get(),
                                                slots, n);
    else
      sort_anew(positions, step == 0, slots);
  }

  // Makes the nodes of the sorted bodies, and adds up their moments.
  void connect(float theta) {
    if (!is_kept)
      make_nodes<<<blocks, kBlockSize, 0, stream>>>(
          keys.get(), Links{nodes.get(), leaves.get(), leaf_count.get()}, n);
    constexpr int kBodies = kMomentsBlock * ((kLeafSize + 1) / 2);  // typical number per block
    find_moments<<<(n - 1) / kBodies + 1, kMomentsBlock, 0, stream>>>(
        bodies.get(), nodes.get(), leaves.get(), leaf_count.get(), theta);
  }

  // Sorts by all bits of the keys if the system is new or a slot has too many bodies; otherwise by
  // slots, because bodies move little in a time step, and most stay in or near their slot.
  void sort_anew(const Position* positions, bool is_new, const Slots& slots) {
    work.run([&](void* memory, std::size_t& bytes) {
      return cub::DeviceReduce::TransformReduce(memory, bytes, positions, cube.get(), n,
                                                BoxAround(), BoxOf(), empty_box(), stream);
    });
    if (builds++ % kLooks == 1) look_for_crowd();
    if (is_new || is_crowded) {
      make_keys<<<blocks, kBlockSize, 0, stream>>>(positions, cube.get(), unsorted_keys.get(),
                                                   numbers.get(), slots, n);
      work.run([&](void* memory, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(memory, bytes, unsorted_keys.get(), keys.get(),
                                               numbers.get(), order.get(), n, 0, kKeyBits, stream);
      });
      gather<<<blocks, kBlockSize, 0, stream>>>(positions, order.get(), keys.get(), bodies.get(),
                                                slots, n);
      return;
    }
    take_tickets<<<blocks, kBlockSize, 0, stream>>>(positions, cube.get(), order.get(), slots,
                                                    tickets.get(), n);
    work.run([&](void* memory, std::size_t& bytes) {
      return cub::DeviceScan::ExclusiveSum(memory, bytes, counts.get(), begins.get(),
                                           (n - 1) / kSlot + 1, stream);
    });
    fill_slots<<<blocks, kBlockSize, 0, stream>>>(tickets.get(), order.get(), begins.get(),
                                                  filled.get(), n);
    settle<<<blocks, kBlockSize, 0, stream>>>(positions, filled.get(), begins.get(), keys.get(),
                                              order.get(), bodies.get(), slots, n);
  }
  void look_for_crowd() {  // reads what the previous build has found; the host waits
    int answer = 0;
    CUDA_CHECK(
        cudaMemcpyAsync(&answer, crowded.get(), sizeof answer, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    is_crowded = answer != 0;
  }

  int blocks = (n - 1) / kBlockSize + 1, builds = 0;
  bool is_crowded = false, is_kept = false;
  std::size_t size = static_cast<std::size_t>(n), slot_count = (size - 1) / kSlot + 1;
  DeviceArray<Position> bodies{size};  // bodies in sorted order
  DeviceArray<int> order{size};        // the index of each sorted body
  DeviceArray<CurveKey> keys{size};    // the key of each sorted body
  DeviceArray<CurveKey> unsorted_keys{size};
  DeviceArray<int> numbers{size};
  DeviceArray<Ticket> tickets{size}, filled{size};
  DeviceArray<CurveKey> first_keys{slot_count};  // the first key of each slot
  DeviceArray<int> counts{slot_count}, begins{slot_count};
  DeviceArray<Node> nodes{2 * size};
  DeviceArray<int> leaves{size}, leaf_count{1};  // the leaves' numbers
  DeviceArray<int> crowded{1};                   // 1: a slot had too many bodies
  DeviceArray<Box> cube{1};                      // the cube around all bodies
  CubMemory work{};
};

}  // namespace tree
