// step16_fmm -- a distant node acts on a whole group of bodies at once.
//
// Step 15b computes a distant node's force on each of 32 bodies, which from afar are almost one
// point. Here the force becomes a Taylor series around their middle (series.h), which is evaluated
// at each body. There are two levels of groups. First two warps walk the tree (walk.h) for 256
// neighbours on the curve (for orders 4 and 5, one warp for 128): they expand the nodes that are
// far from all of them, and list the others. Then a warp for each 32 of these bodies continues from
// the list: it expands nodes in a second series, or adds forces of nodes and bodies as in step 15b.
// 64 clouds (clouds.h) give an estimate of the strength of the forces, so no coarse walk is needed.
//
// Parent: step15b_force_aware. Run: step16_fmm --scenario plummer --bodies 1048576 --steps 5
#include "nbody/step.h"
#include "nbody/timeline.h"
#include "nbody/transfer.h"
#include "step15_barnes_hut/attraction.h"
#include "step15_barnes_hut/motion.h"
#include "step15_barnes_hut/tree.h"
#include "step16_fmm/clouds.h"
#include "step16_fmm/series.h"
#include "step16_fmm/walk.h"

namespace {

using namespace nbody;
using namespace tree;
using gravity::attraction;
using motion::KickAndDrift;
using namespace walk;
using clouds::Cloud;
using series::Series;

constexpr int kGroup = 32;  // bodies of a warp of the second walk
// Series of a higher order need more registers, so fewer warps fit on a multiprocessor, and smaller
// large groups are faster. The number of warps limits their registers. Before compute capability
// 9.0 some multiprocessors run at most 16 blocks; the emulator ignores the number.
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900
constexpr int kMostWarps = TUNABLE(WARPS_PER_SM, 20);
#else
constexpr int kMostWarps = 16;
#endif
template <int kOrder>
[[maybe_unused]] constexpr int kWarpsPerSm = kOrder <= 3   ? kMostWarps
                                             : kOrder == 4 ? 16
                                                           : 12;
template <int kOrder>
constexpr int kLarge = TUNABLE(LARGE_GROUP, kOrder <= 3 ? 256 : 128);  // bodies of a large group
template <int kOrder>
constexpr int kShare = kLarge<kOrder> / kGroup;
// Warps that walk for a large group, each through a part of the tree.
template <int kOrder>
constexpr int kParts = TUNABLE(PARTS, kOrder <= 3 ? 2 : 1);
constexpr int kListed = TUNABLE(LISTED, 1536);  // the most nodes that a large group's walk lists
constexpr int kRefill = kStack / 2;             // listed nodes that a stack starts with
static_assert(kLarge<3> % kGroup == 0 && kShare<3> <= 32 && kRefill + kDepth + 32 <= kStack);
static_assert(32 * (kRounds + 2) <= kListed, "the list is not full before warps divide the stack");
// If a group's box is this many times as wide as the distance at which a node is accepted, the node
// may be in the box but far from all bodies, which are near the faces. Then each body is tested.
constexpr float kWide = 8;

constexpr float kConverges = 0.95f;  // the largest (r + r_group) / R of a series
// Errors of series add up more than errors of single nodes, so for the same total error, a smaller
// part of the tolerance is allowed than in step 15b.
constexpr float kAllowed = 0.7f;
// Scales the error of a series. This error's parts have the same sign for all nodes on one side.
constexpr float kTail = 0.01f * TUNABLE(TAIL, 400);

// Returns q, for which the sum of m u^k over a node's bodies is at most q m r^k for k >= 2. Most
// nodes have a small q, which pays for orders 4 and 5: there most of the error is that of series.
template <int kOrder>
__device__ float concentration(const Head& node, float r) {
  return kOrder > 3 ? node.spread / fmaxf(node.mass * r * r, 1e-37f) : 1;
}

// Results of the first walk through one part of the tree; groups of 32 bodies continue from them.
template <int kOrder>
struct LargeGroup {
  float3 middle;
  float unit;
  int count;
  Series<kOrder> series;
  int listed[kListed + kStack];
};

// Expands nodes around `middle`; the group's bodies are within `radius`. Below, r is a node's
// radius, which the tree stores divided by theta.
template <int kOrder, bool kQuadrupole>
struct Expansion {
  const Node* __restrict__ nodes;
  float3 middle;
  float radius, theta, unit, softening_squared;
  int* waiting;  // up to 63 nodes, which wait until every lane has a node to add
  int count = 0;
  bool any = false;
  Series<kOrder> series{};

  // True if both series omit little: the node's series omits (r / R)^3 as in step 15b, and the
  // group's series omits the orders n above kOrder. With t = (r + r_group) / R the omitted orders
  // are at most sum (n + 1) t^n, which grows like t^(kOrder + 1) / (1 - t)^2. Errors of wide groups
  // have the same sign, so they count in full. If q is known, t^p with p = kOrder + 1 becomes the
  // sum of binomial(p, k) B_k r_group^(p - k) / R^p with B_0 = 1, B_1 = 0, B_k = q r^k (Dehnen,
  // Computational Astrophysics and Cosmology 1:1, 2014). A NaN opens the node.
  __device__ bool covers(const Head& node, float bound) const {
    const float3 d = middle - xyz(node.centre);
    const float square = dot(d, d), share = rsqrtf(square), r = theta * sqrtf(node.centre.w);
    const float both = (r + radius) * share, ratio = r * share;
    const float q = concentration<kOrder>(node, r);
    float next = both * both;
    for (int n = 2; n < series.kTop; ++n) next *= both;
    if constexpr (kOrder > 3) {
      const float wide = radius * share;
      float power = wide * wide;
      for (int n = 3; n < series.kTop; ++n) power *= wide;
      next = q * (next - series.kTop * ratio * power) + (1 - q) * wide * power;
    }
    next *= kTail / ((1 - both) * (1 - both));
    const float neglected = next + q * ratio * ratio * (kQuadrupole ? ratio : 1);
    return both < kConverges && node.mass / square * neglected < bound;
  }
  __device__ void add(int number) {
    series.template add<kQuadrupole>(nodes[number], middle, unit, softening_squared);
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

__device__ float largest_of_warp(float x) {
  for (int apart = 16; apart > 0; apart /= 2) x = fmaxf(x, __shfl_xor_sync(kAllLanes, x, apart));
  return x;
}
__device__ float3 middle_of(const Box& box) { return 0.5f * (box.low + box.high); }
__device__ float length(float3 d) { return sqrtf(dot(d, d)); }

// Returns the inverse of a group's unit of length, its radius. Then high powers of a distance
// become too small for float32 only where they count for nothing. The unit is at least a millionth
// of the cube's edge, because low powers must not become too small.
__device__ float unit_of(float radius, const Box& cube) {
  return 1 / fmaxf(fmaxf(radius, 1e-6f * largest(cube.high - cube.low)), 1e-18f);
}

// The first walk, kParts warps per large group.
template <int kOrder, bool kQuadrupole>
__global__ void __launch_bounds__(32, kWarpsPerSm<kOrder>)
    see_far(const Node* __restrict__ nodes, int root, const Box* __restrict__ cube,
            const Position* __restrict__ bodies, const float* __restrict__ forces, int n,
            float theta, float softening_squared, float tolerance,
            LargeGroup<kOrder>* __restrict__ large_groups) {
  __shared__ int stack[kStack], waiting[64];
  LargeGroup<kOrder>& large = large_groups[blockIdx.x];
  const int first = blockIdx.x / kParts<kOrder> * kShare<kOrder>;  // the first group of 32 bodies
  const int part = blockIdx.x % kParts<kOrder>;
  const auto number_of = [&](int k) { return min((first + k) * kGroup + lane(), n - 1); };
  Box box = BoxOf()(bodies[number_of(0)]);
  for (int k = 1; k < kShare<kOrder>; ++k) box = BoxAround()(box, BoxOf()(bodies[number_of(k)]));
  const float strength = forces[min(first + lane() % kShare<kOrder>, (n - 1) / kGroup)];
  const float weakest = -largest_of_warp(-strength);
  const float bound = tolerance * weakest;
  box = {box_of_warp(box.low).low, box_of_warp(box.high).high};
  const float3 middle = middle_of(box);
  float radius = 0;
  for (int k = 0; k < kShare<kOrder>; ++k)
    radius = fmaxf(radius, length(xyz(bodies[number_of(k)]) - middle));
  radius = largest_of_warp(radius);

  Expansion<kOrder, kQuadrupole> far{
      nodes, middle, radius, theta, unit_of(radius, *cube), softening_squared, waiting};
  int count = 0;
  if (lane() == 0) stack[0] = root;
  const int left = walk_down(
      nodes, stack, 1, part, kParts<kOrder>,
      [&](const Head& node, bool mine) {
        if (!mine) return Fate::none;
        if (far.covers(node, bound)) return Fate::expanded;
        // The larger of the two is divided: the node, or this group into its parts.
        const bool is_smaller = theta * theta * node.centre.w < radius * radius;
        return node.right < 0 || is_smaller ? Fate::listed : Fate::opened;
      },
      [&](Fate fate, int number) {
        far.take(fate == Fate::expanded, number);
        const unsigned listed = __ballot_sync(kAllLanes, fate == Fate::listed);
        if (fate == Fate::listed) large.listed[count + rank_among(listed)] = number;
        count += __popc(listed);
        return count <= kListed - 32;
      });
  // If the list is full, the groups continue from the nodes that are still on the stack.
  for (int k = lane(); k < left; k += 32) large.listed[count + k] = stack[k];
  far.finish();
  if (lane() != 0) return;
  large.series = far.series;
  large.middle = middle;
  large.unit = far.unit;
  large.count = count + left;
}

// Moves the bodies by the forces of the tree, one lane per sorted body.
template <int kOrder, bool kQuadrupole>
__global__ void __launch_bounds__(32, kWarpsPerSm<kOrder>)
    advance(const Node* __restrict__ nodes, const Box* __restrict__ cube,
            const Position* __restrict__ bodies, const float* __restrict__ forces,
            const LargeGroup<kOrder>* __restrict__ large_groups, const int* __restrict__ order,
            KickAndDrift move, int n, float theta, float softening_squared, float tolerance) {
  __shared__ int stack[kStack], waiting[64];
  __shared__ int queue[32 * (kLeafSize + 1)];  // bodies of leaves
  __shared__ float4 tile[3][32];
  int queued = 0;
  const LargeGroup<kOrder>* const large =
      large_groups + blockIdx.x / kShare<kOrder> * kParts<kOrder>;  // the group's parts
  const int i = blockIdx.x * kGroup + lane();
  const Position body = bodies[min(i, n - 1)];
  const Box box = box_of_warp(xyz(body));
  const float3 width = 1 / kWide * (box.high - box.low);
  const float bound = tolerance * forces[blockIdx.x];
  const float3 middle = middle_of(box);
  const float radius = largest_of_warp(length(xyz(body) - middle)), unit = unit_of(radius, *cube);
  Expansion<kOrder, kQuadrupole> far{nodes,  middle, radius, theta, unit, softening_squared,
                                     waiting};
  // As in step 15b: true if a node acts as one body on all bodies of a box.
  const auto acts_as_a_whole = [bound, theta](float4 centre, float mass, const Box& on) {
    const float3 c = xyz(centre), d = max(max(on.low - c, c - on.high), {0, 0, 0});
    const float square = dot(d, d), ratio = theta * sqrtf(centre.w / square);
    return ratio < theta && mass / square * ratio * ratio * (kQuadrupole ? ratio : 1) < bound;
  };

  float3 a{};
  // Returns the share of the last `count` bodies in the queue, at most 32.
  const auto attraction_of_tile = [&](int count) {
    queued -= count;
    __syncwarp();  // the queue has been written, and all lanes are done with the old tile
    if (lane() < count) tile[0][lane()] = bodies[queue[queued + lane()]];
    __syncwarp();  // the new tile has been written
    float3 sum{};
#pragma unroll 8
    for (int j = 0; j < count; ++j) sum = sum + attraction(tile[0][j], body, softening_squared);
    return sum;
  };
  const auto judge = [&](const Head& node, bool mine) {
    const float4 centre = node.centre;
    const float weight = node.mass * concentration<kOrder>(node, theta * sqrtf(centre.w));
    const bool expanded = mine && far.covers(node, bound);
    bool accepted = mine && !expanded && acts_as_a_whole(centre, weight, box);
    const bool doubtful = mine && !expanded && !accepted && centre.w < dot(width, width);
    for (unsigned asked = __ballot_sync(kAllLanes, doubtful); asked != 0; asked &= asked - 1) {
      const int holder = __ffs(asked) - 1;
      const auto of_holder = [holder](float x) { return __shfl_sync(kAllLanes, x, holder); };
      const float4 c{of_holder(centre.x), of_holder(centre.y), of_holder(centre.z),
                     of_holder(centre.w)};
      const bool agreed = acts_as_a_whole(c, of_holder(weight), BoxOf()(body));
      accepted |= __all_sync(kAllLanes, agreed) && lane() == holder;
    }
    if (!mine) return Fate::none;
    if (expanded) return Fate::expanded;
    if (accepted) return Fate::accepted;
    return node.right < 0 ? Fate::listed : Fate::opened;
  };
  const auto act = [&](Fate fate, int number) {
    const Node& node = nodes[number];
    const unsigned whole = __ballot_sync(kAllLanes, fate == Fate::accepted);
    if (fate == Fate::accepted) {
      const int place = rank_among(whole);
      const float4 c = node.centre, s = node.squares, p = node.products;
      tile[0][place] = {c.x, c.y, c.z, s.w};
      tile[1][place] = s;
      tile[2][place] = {p.x, p.y, p.z, -0.5f * (s.x + s.y + s.z)};
    }
    far.take(fate == Fate::expanded, number);  // its barrier also protects the tile
    float3 partial{};
    for (int j = 0; j < __popc(whole); ++j) {
      partial = partial + (kQuadrupole ? attraction(tile[0][j], tile[1][j], tile[2][j], body,
                                                    softening_squared)
                                       : attraction(tile[0][j], body, softening_squared));
    }
    // Bodies of leaves wait until they fill a tile.
    const int count = fate == Fate::listed ? -node.right : 0;
    const int first = queued + sum_before_lane(count);
    for (int k = 0; k < count; ++k) queue[first + k] = node.left + k;
    queued = __shfl_sync(kAllLanes, first + count, 31);
    while (queued >= 32) partial = partial + attraction_of_tile(32);
    a = a + partial;  // adding partial sums loses fewer digits
    return true;
  };
  for (int part = 0; part < kParts<kOrder>; ++part) {
    for (int done = 0; done < large[part].count; done += kRefill) {
      const int size = min(large[part].count - done, kRefill);
      for (int k = lane(); k < size; k += 32) stack[k] = large[part].listed[done + k];
      walk_down(nodes, stack, size, 0, 1, judge, act);
    }
  }
  a = a + attraction_of_tile(queued);
  far.finish();
  a = a + far.series.at(xyz(body) - middle, unit);
  Series<kOrder> all = large[0].series;
  for (int part = 1; part < kParts<kOrder>; ++part) all.add(large[part].series);
  a = a + all.at(xyz(body) - large[0].middle, large[0].unit);
  if (i >= n) return;
  move(order[i], a, body.w);
}

// Estimates the forces on sorted bodies. The clouds need no nodes, so a second stream computes them
// while few warps are busy with the tree's nodes.
class Estimate {
 public:
  explicit Estimate(int n) : n_(n), forces_((n - 1) / kGroup + 1), clouds_(clouds::kClouds) {}

  void begin(const Position* bodies, float softening_squared) {
    sorted_.record();
    CUDA_CHECK(cudaStreamWaitEvent(stream_.get(), sorted_.get()));
    clouds::find_clouds<<<clouds::number_of_clouds(n_), clouds::threads_per_cloud(n_), 0,
                          stream_.get()>>>(bodies, n_, clouds_.get());
    clouds::find_weakest<<<(n_ - 1) / (clouds::kEvery * clouds::kEstimateBlock) + 1,
                           clouds::kEstimateBlock, 0, stream_.get()>>>(
        bodies, clouds_.get(), n_, softening_squared, forces_.get());
    estimated_.record(stream_.get());
  }
  // Returns the smallest |a| of each group, for kernels that are launched after this call.
  const float* forces() const {
    CUDA_CHECK(cudaStreamWaitEvent(nullptr, estimated_.get()));
    return forces_.get();
  }

 private:
  int n_;
  DeviceArray<float> forces_;
  DeviceArray<Cloud> clouds_;
  Stream stream_{cudaStreamNonBlocking};  // the default stream does not wait for it
  Event sorted_, estimated_;
};

template <int kOrder, bool kQuadrupole>
Timing simulate_with(const Run& run, Systems& systems) {
  const int n = systems.bodies_per_system;
  const float theta = run.approximation.theta;
  // The first terms that a series omits grow with theta to the power kOrder + 1. The tolerance
  // shrinks with one more power, so at small angles most errors are those of the nodes that act on
  // each body, as in step 15b.
  const float tolerance =
      kAllowed * run.approximation.force_tolerance.value_or(0) * powf(theta, kOrder + 2);
  const int groups = (n - 1) / kGroup + 1, large = (n - 1) / kLarge<kOrder> + 1;
  DeviceArray<float4> positions(systems.bodies.size()), velocities(systems.bodies.size());
  DeviceArray<LargeGroup<kOrder>> large_groups(large * kParts<kOrder>);
  Estimate estimate(n);
  Tree tree{n};
  const Transfer transfer(systems.bodies);
  StageTimer timer;
  transfer.upload(positions.get(), velocities.get());
  timer.uploaded();
  for (int s = 0; s < systems.count; ++s) {  // one by one, because they share the tree's memory
    const std::size_t first = static_cast<std::size_t>(s) * n;
    const KickAndDrift move{positions.get() + first, velocities.get() + first, run.dt};
    for (int step = 0; step < run.steps; ++step) {
      tree.sort(move.positions, step, run.approximation.rebuild_every.value_or(1));
      estimate.begin(tree.bodies.get(), run.softening_squared);
      tree.connect(theta);
      const float* const forces = estimate.forces();
      see_far<kOrder, kQuadrupole><<<large * kParts<kOrder>, 32>>>(
          tree.nodes.get(), tree.root(), tree.cube.get(), tree.bodies.get(), forces, n, theta,
          run.softening_squared, tolerance, large_groups.get());
      advance<kOrder, kQuadrupole><<<groups, 32>>>(
          tree.nodes.get(), tree.cube.get(), tree.bodies.get(), forces, large_groups.get(),
          tree.order.get(), move, n, theta, run.softening_squared, tolerance);
      CUDA_CHECK(cudaGetLastError());
    }
  }
  timer.computed();
  transfer.download(positions.get(), velocities.get());
  timer.downloaded();
  return timer.timing();
}

template <int kOrder>
Timing simulate_with(const Run& run, Systems& systems) {
  return run.approximation.multipole == 2 ? simulate_with<kOrder, true>(run, systems)
                                          : simulate_with<kOrder, false>(run, systems);
}

Timing simulate(const Run& run, Systems& systems) {
  switch (run.approximation.order.value_or(3)) {
    case 2:
      return simulate_with<2>(run, systems);
    case 4:
      return simulate_with<4>(run, systems);
    case 5:
      return simulate_with<5>(run, systems);
    default:
      return simulate_with<3>(run, systems);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "step16_fmm",
                           .parent = "step15b_force_aware",
                           .summation = nbody::Summation::tiled,
                           .approximation = {{.theta = 1, .force_tolerance = 0.005f, .order = 3}},
                           .boundaries = {tree::kLeafSize, kGroup, kLarge<4>, kLarge<3>}},
                          simulate, argc, argv);
}
