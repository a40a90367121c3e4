// step16_fmm -- a distant node acts on a whole group of bodies at once.
//
// Step 15b adds a distant node to each of 32 bodies, although from afar these are almost one point.
// Here the node is added to a Taylor series around their middle (series.h), which every body
// evaluates once. There are two levels of groups: first a warp walks the tree for 256 neighbouring
// bodies. It estimates their forces, expands what is far from all of them, and lists the nodes that
// are not. Then eight warps walk on from this list, each for 32 bodies.
//
// Parent: step15b_force_aware. Run: step16_fmm --scenario plummer --bodies 1048576 --steps 5
#include "nbody/step.h"
#include "nbody/timeline.h"
#include "nbody/transfer.h"
#include "step15_barnes_hut/tree.h"
#include "step16_fmm/series.h"

namespace {

using namespace nbody;
using namespace tree;
using series::Series;
using Velocity = float4;  // w is 0

constexpr int kGroup = 32;                               // bodies of a warp; a block is one warp
constexpr int kLarge = TUNABLE(LARGE_GROUP, 256);        // bodies of a large group
constexpr int kShare = kLarge / kGroup, kSamples = 32 / kShare;
constexpr int kStack = TUNABLE(STACK, 512);              // nodes on the stack
constexpr int kRefill = kStack / 2;                      // listed nodes that a stack starts with
constexpr int kListed = TUNABLE(LISTED, 768);            // nodes on the list of a large group
// The bodies of a node share more bits (of keys, then of indices) than those of its parent, so
// opening one node at a time never takes more room than this.
constexpr int kDepth = 3 * kCoordinateBits + 32;
static_assert(kLarge % kGroup == 0 && kShare <= 32 && kRefill + kDepth + 32 <= kStack);
// A box this many times as wide as the distance at which a node is accepted may surround the node
// although its own bodies are far away, near its faces. Then each body is tested.
constexpr float kWide = 8;
constexpr unsigned kAllLanes = 0xffffffff;

constexpr float kCoarse = 2.25f;     // the estimate opens inner nodes whose (r / R)^2 is larger
constexpr float kCancelled = 0.01f;  // a force counts as at least this part of its group's largest
constexpr float kConverges = 0.01f * TUNABLE(CONVERGES, 95);  // largest (r + r_group) / R of a series
constexpr float kHeavy = TUNABLE(HEAVY, 8);
constexpr float kSpread = 0.01f * TUNABLE(SPREAD, 25);
constexpr float kTail = 0.01f * TUNABLE(TAIL, 100);
constexpr float kOpened = 0.01f * TUNABLE(OPENED, 100);  // large groups list nodes up to their size

__device__ int lane() { return threadIdx.x; }
__device__ int rank_among(unsigned lanes) { return __popc(lanes & ((1u << lane()) - 1)); }

// What a large group leaves to its groups of 32.
struct LargeGroup {
  float3 middle;
  int count;
  float forces[kShare];  // an estimate of the smallest |a| of each group
  Series series;
  int listed[kListed + kStack];
};

enum class Fate { none, opened, expanded, accepted, listed };

// Walks the tree with a warp: each lane takes a node from the stack, judge() decides its fate, and
// act() does what is not opening it. Ends when the stack is empty or act() returns false; returns
// the number of nodes on the stack.
template <class Judge, class Act>
__device__ int walk(const Node* __restrict__ nodes, int* stack, int size, const Judge& judge,
                    const Act& act) {
  __syncwarp();  // what is on the stack has been written
  while (size > 0) {
    // Lanes take one node each from the top, but fewer if the children might not fit.
    const int taken = min(min(size, 32), max(kStack - kDepth - size, 1));
    size -= taken;
    const int number = stack[size + min(lane(), taken - 1)];
    const Node& node = nodes[number];
    const Fate fate = judge(node, lane() < taken);
    const unsigned opened = __ballot_sync(kAllLanes, fate == Fate::opened);
    __syncwarp();  // all lanes read the stack before any lane writes
    if (fate == Fate::opened) {
      int* const children = stack + size + 2 * rank_among(opened);
      children[0] = node.left;
      children[1] = node.right;
    }
    size += 2 * __popc(opened);
    const bool more = act(fate, number, node);
    __syncwarp();  // all lanes have written before any lane reads
    if (!more) break;
  }
  return size;
}

// Nodes of radius r (over theta) around `middle`, of a group of bodies at most `radius` from it.
template <bool kQuadrupole>
struct Expansion {
  const Node* __restrict__ nodes;
  float3 middle;
  float radius, unit, softening_squared;
  int* waiting;  // up to 63 nodes, until each lane has one to add
  int count = 0;
  bool any = false;
  Series series{};

  // True if the first terms that the two series neglect are small: (r / R)^3 as in step 15b, and
  // the group's next order of (r + r_group) / R. This must also be below 1, where both converge.
  __device__ bool covers(const Node& node, float bound) const {
    const float3 d = middle - xyz(node.centre);
    const float square = dot(d, d), share = rsqrtf(square), r = sqrtf(node.centre.w);
    const float both = (r + radius) * share, ratio = r * share;
    float next = both * both;
    for (int n = 2; n < series::kTop; ++n) next *= both;
    next *= kTail / ((1 - both) * (1 - both));
    const float neglected = next + ratio * ratio * (kQuadrupole ? ratio : 1);
    return both < kConverges && node.squares.w / square * neglected < bound;
  }
  __device__ void add(int number) {
    series.add<kQuadrupole>(nodes[number], middle, unit, softening_squared);
  }
  __device__ void take(bool mine, int number) {
    const unsigned all = __ballot_sync(kAllLanes, mine);
    if (mine) waiting[count + rank_among(all)] = number;
    count += __popc(all);
    any |= all != 0;
    __syncwarp();  // all lanes have written before any lane reads
    if (count < 32) return;
    count -= 32;
    add(waiting[count + lane()]);
  }
  __device__ void finish() {
    if (!any) return;
    if (lane() < count) add(waiting[lane()]);
    series.sum_warp();
  }
};

// Returns a source's share of the acceleration of a body, as in step 11.
__device__ float3 attraction(Position source, Position body, float softening_squared) {
  const float3 d = xyz(source) - xyz(body);
  const float inverse_distance = rsqrtf(dot(d, d, softening_squared));
  return source.w * inverse_distance * (inverse_distance * inverse_distance) * d;
}

// Returns the share of a node of mass m and quadrupole Q = 3 sum m_k u_k u_k^T, with u_k from its
// centre to its bodies. With d to the centre, s^2 = d^2 + eps^2, e = d / s and w = 1 / s^2,
//   a = w ((m + w (5/2 e.Qe - tr Q / 2)) e - w Qe),
// the first terms of a Taylor series of the softened force; w^2 would overflow where w Q is small.
// `products` has -tr Q / 2 as w.
__device__ float3 attraction(Position centre, float4 squares, float4 products, Position body,
                             float softening_squared) {
  const float3 d = xyz(centre) - xyz(body);
  const float inverse_distance = rsqrtf(dot(d, d, softening_squared));
  const float w = inverse_distance * inverse_distance;
  const float3 e = inverse_distance * d;
  const float3 q{dot(e, {squares.x, products.x, products.y}),
                 dot(e, {products.x, squares.y, products.z}),
                 dot(e, {products.y, products.z, squares.z})};
  return w * ((centre.w + w * (2.5f * dot(e, q) + products.w)) * e - w * q);
}

__device__ float largest_of_warp(float x) {
  for (int apart = 16; apart > 0; apart /= 2) x = fmaxf(x, __shfl_xor_sync(kAllLanes, x, apart));
  return x;
}
__device__ float3 middle_of(const Box& box) { return 0.5f * (box.low + box.high); }
__device__ float length(float3 d) { return sqrtf(dot(d, d)); }

// Lengths are counted in millionths of the cube, whose inverse this is.
__device__ float unit_of(const Box& cube) {
  const float edge = largest(cube.high - cube.low);
  return edge > 1e-30f ? 1e6f / edge : 1;
}

// The first walk, one warp per large group.
template <bool kQuadrupole>
__global__ void __launch_bounds__(32)
    see_far(const Node* __restrict__ nodes, int root, const Box* __restrict__ cube,
            const Position* __restrict__ bodies, int n, float theta, float softening_squared,
            float tolerance, LargeGroup* __restrict__ large_groups) {
  __shared__ int stack[kStack], waiting[64];
  __shared__ float4 tile[32];
  __shared__ float radius_of[32];
  LargeGroup& large = large_groups[blockIdx.x];
  // Each lane has kShare consecutive bodies, and one of them as a sample.
  const auto body_of = [&](int k) {
    return bodies[min(blockIdx.x * kLarge + lane() * kShare + k, n - 1)];
  };
  const Position sample = body_of(kShare / 2);
  Box box = BoxOf()(sample);
  for (int k = 0; k < kShare; ++k) box = BoxAround()(box, BoxOf()(body_of(k)));
  const float3 extent = box.high - box.low;
  box = {box_of_warp(box.low).low, box_of_warp(box.high).high};
  const float3 middle = middle_of(box);
  float radius = 0;
  for (int k = 0; k < kShare; ++k) radius = fmaxf(radius, length(xyz(body_of(k)) - middle));
  radius = largest_of_warp(radius);

  // A coarse estimate of the forces, by masses only, on every eighth body. A node that lies on a
  // body would seem to pull hard, so a node is softened by a part of its radius. A heavy body pulls
  // its neighbours but not itself, so what may be in the group counts only if it lessens the force.
  float3 a{}, outside{};
  if (lane() == 0) stack[0] = root;
  walk(nodes, stack, 1,
       [&](const Node& node, bool mine) {
         const float3 d = middle - xyz(node.centre);
         if (!mine) return Fate::none;
         const bool small = node.right < 0 || node.centre.w < kCoarse * dot(d, d);
         return small ? Fate::accepted : Fate::opened;
       },
       [&](Fate fate, int, const Node& node) {
         const unsigned all = __ballot_sync(kAllLanes, fate == Fate::accepted);
         if (fate == Fate::accepted) {
           const float4 c = node.centre;
           tile[rank_among(all)] = {c.x, c.y, c.z, node.squares.w};
           radius_of[rank_among(all)] = node.products.w;
         }
         __syncwarp();  // all lanes have written before any lane reads
         for (int j = 0; j < __popc(all); ++j) {
           const float r = radius_of[j], spread = softening_squared + kSpread * r * r;
           const float3 pull = attraction(tile[j], sample, spread), d = xyz(tile[j]) - xyz(sample);
           a = a + pull;
           if (dot(d, d) > dot(extent, extent)) outside = outside + pull;
         }
         return true;
       });
  const float force = fminf(length(a), kHeavy * length(outside));
  float least = force, most = force;
  for (int apart = 1; apart < kSamples; apart *= 2) {
    least = fminf(least, __shfl_xor_sync(kAllLanes, least, apart));
    most = fmaxf(most, __shfl_xor_sync(kAllLanes, most, apart));
  }
  least = fmaxf(least, kCancelled * most);
  if (lane() % kSamples == 0) large.forces[lane() / kSamples] = least;
  const float bound = -tolerance * largest_of_warp(-least);  // of the smallest

  Expansion<kQuadrupole> far{nodes, middle, radius / theta, unit_of(*cube), softening_squared, waiting};
  int count = 0;
  if (lane() == 0) stack[0] = root;
  const int left = walk(nodes, stack, 1,
       [&](const Node& node, bool mine) {
         if (!mine) return Fate::none;
         if (far.covers(node, bound)) return Fate::expanded;
         // The larger of the two is divided: the node, or this group into its parts.
         const bool divided = node.right < 0 || node.centre.w < kOpened * kOpened * radius * radius;
         return divided ? Fate::listed : Fate::opened;
       },
       [&](Fate fate, int number, const Node&) {
         far.take(fate == Fate::expanded, number);
         const unsigned all = __ballot_sync(kAllLanes, fate == Fate::listed);
         if (fate == Fate::listed) large.listed[count + rank_among(all)] = number;
         count += __popc(all);
         return count <= kListed - 32;
       });
  // If the list is full, the groups continue from the nodes that are still on the stack.
  for (int k = lane(); k < left; k += 32) large.listed[count + k] = stack[k];
  far.finish();
  if (lane() != 0) return;
  large.middle = middle;
  large.count = count + left;
  large.series = far.series;
}

// Kicks and drifts by the forces of the tree, one lane per sorted body.
template <bool kQuadrupole>
__global__ void __launch_bounds__(32)
    advance(const Node* __restrict__ nodes, const Box* __restrict__ cube,
            const Position* __restrict__ bodies, const LargeGroup* __restrict__ large_groups,
            const int* __restrict__ order, Position* __restrict__ positions,
            Velocity* __restrict__ velocities, int n, float dt, float theta,
            float softening_squared, float tolerance) {
  __shared__ int stack[kStack], waiting[64];
  __shared__ float4 tile[3][32];
  const LargeGroup& large = large_groups[blockIdx.x / kShare];
  const int i = blockIdx.x * kGroup + lane();
  const Position body = bodies[min(i, n - 1)];
  const Box box = box_of_warp(xyz(body));
  const float3 width = 1 / kWide * (box.high - box.low);
  const float bound = tolerance * large.forces[blockIdx.x % kShare];
  const float3 middle = middle_of(box);
  const float radius = largest_of_warp(length(xyz(body) - middle)), unit = unit_of(*cube);
  Expansion<kQuadrupole> far{nodes, middle, radius / theta, unit, softening_squared, waiting};
  // As in step 15b: true if a node acts as one body on all bodies of a box.
  const auto acts_as_a_whole = [bound](float4 centre, float mass, const Box& on) {
    const float3 c = xyz(centre), d = max(max(on.low - c, c - on.high), {0, 0, 0});
    const float square = dot(d, d), ratio = sqrtf(centre.w / square);
    return ratio < 1 && mass / square * ratio * ratio * (kQuadrupole ? ratio : 1) < bound;
  };

  float3 a{};
  const auto judge = [&](const Node& node, bool mine) {
    const float4 centre = node.centre;
    const float mass = node.squares.w;
    const bool expanded = mine && far.covers(node, bound);
    bool accepted = mine && !expanded && acts_as_a_whole(centre, mass, box);
    const bool doubtful = mine && !expanded && !accepted && centre.w < dot(width, width);
    for (unsigned asked = __ballot_sync(kAllLanes, doubtful); asked != 0; asked &= asked - 1) {
      const int holder = __ffs(asked) - 1;
      const auto of_holder = [holder](float x) { return __shfl_sync(kAllLanes, x, holder); };
      const float4 c{of_holder(centre.x), of_holder(centre.y), of_holder(centre.z),
                     of_holder(centre.w)};
      const bool agreed = acts_as_a_whole(c, of_holder(mass), BoxOf()(body));
      accepted |= __all_sync(kAllLanes, agreed) && lane() == holder;
    }
    if (!mine) return Fate::none;
    if (expanded) return Fate::expanded;
    if (accepted) return Fate::accepted;
    return node.right < 0 ? Fate::listed : Fate::opened;
  };
  const auto act = [&](Fate fate, int number, const Node& node) {
    const unsigned whole = __ballot_sync(kAllLanes, fate == Fate::accepted);
    if (fate == Fate::accepted) {
      const int place = rank_among(whole);
      const float4 c = node.centre, s = node.squares, p = node.products;
      tile[0][place] = {c.x, c.y, c.z, s.w};
      tile[1][place] = s;
      tile[2][place] = {p.x, p.y, p.z, -0.5f * (s.x + s.y + s.z)};
    }
    far.take(fate == Fate::expanded, number);  // its barrier is for the tile, too
    float3 partial{};
    for (int j = 0; j < __popc(whole); ++j) {
      partial = partial + (kQuadrupole ? attraction(tile[0][j], tile[1][j], tile[2][j], body,
                                                    softening_squared)
                                       : attraction(tile[0][j], body, softening_squared));
    }
    for (unsigned leaves = __ballot_sync(kAllLanes, fate == Fate::listed); leaves != 0;
         leaves &= leaves - 1) {
      const int holder = __ffs(leaves) - 1;
      const int first = __shfl_sync(kAllLanes, node.left, holder);
      const int count = -__shfl_sync(kAllLanes, node.right, holder);
      __syncwarp();  // all lanes are done with the old tile
      if (lane() < count) tile[0][lane()] = bodies[first + lane()];
      __syncwarp();
#pragma unroll 4
      for (int j = 0; j < count; ++j)
        partial = partial + attraction(tile[0][j], body, softening_squared);
    }
    a = a + partial;  // adding partial sums loses fewer digits
    return true;
  };
  for (int done = 0; done < large.count; done += kRefill) {
    const int size = min(large.count - done, kRefill);
    for (int k = lane(); k < size; k += 32) stack[k] = large.listed[done + k];
    walk(nodes, stack, size, judge, act);
  }
  far.finish();
  a = a + far.series.at(xyz(body) - middle, unit) + large.series.at(xyz(body) - large.middle, unit);
  if (i >= n) return;
  Position& position = positions[order[i]];
  Velocity& velocity = velocities[order[i]];
  const float3 v = xyz(velocity) + dt * a, x = xyz(position) + dt * v;
  velocity = {v.x, v.y, v.z, 0};
  position = {x.x, x.y, x.z, body.w};
}

Timing simulate(const Run& run, Systems& systems) {
  const int n = systems.bodies_per_system;
  const bool quadrupole = run.approximation.multipole == 2;
  const auto first_walk = quadrupole ? see_far<true> : see_far<false>;
  const auto second_walk = quadrupole ? advance<true> : advance<false>;
  const int groups = (n - 1) / kGroup + 1, large = (n - 1) / kLarge + 1;
  const float theta = run.approximation.theta;
  const float tolerance = run.approximation.force_tolerance.value_or(0);
  DeviceArray<float4> positions(systems.bodies.size()), velocities(systems.bodies.size());
  DeviceArray<LargeGroup> large_groups(large);
  Tree tree{n};
  const Transfer transfer(systems.bodies);
  StageTimer timer;
  transfer.upload(positions.get(), velocities.get());
  timer.uploaded();
  for (int s = 0; s < systems.count; ++s) {  // one by one, because they share the tree's memory
    Position* const x = positions.get() + static_cast<std::size_t>(s) * n;
    Velocity* const v = velocities.get() + static_cast<std::size_t>(s) * n;
    for (int step = 0; step < run.steps; ++step) {
      tree.build(x, theta);
      first_walk<<<large, 32>>>(tree.nodes.get(), tree.root(), tree.cube.get(), tree.bodies.get(),
                                n, theta, run.softening_squared, tolerance, large_groups.get());
      second_walk<<<groups, 32>>>(tree.nodes.get(), tree.cube.get(), tree.bodies.get(),
                                  large_groups.get(), tree.order.get(), x, v, n, run.dt, theta,
                                  run.softening_squared, tolerance);
      CUDA_CHECK(cudaGetLastError());
    }
  }
  timer.computed();
  transfer.download(positions.get(), velocities.get());
  timer.downloaded();
  return timer.timing();
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "step16_fmm",
                           .parent = "step15b_force_aware",
                           .summation = nbody::Summation::tiled,
                           .approximation = {{.theta = 1, .force_tolerance = 0.005f}},
                           .boundaries = {tree::kLeafSize, kGroup, kLarge}},
                          simulate, argc, argv);
}
