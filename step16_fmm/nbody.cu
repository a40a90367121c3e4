// step16_fmm -- two levels of groups: distant nodes act on a series of 256 bodies at once.
//
// In step 15e each group of 32 walks the tree from the root, although its neighbours on the curve
// have almost the same distant nodes. Here two warps first walk for 256 neighbours (for orders 4
// and 5, one warp for 128): they expand the nodes that are far from all of them, and list the
// others. Then a warp for each 32 of these bodies continues from the list, as in step 15e.
//
// Parent: step15e_latency. Run: step16_fmm --scenario plummer --bodies 1048576 --steps 5
#include "nbody/step.h"
#include "nbody/timeline.h"
#include "nbody/transfer.h"
#include "step15_barnes_hut/motion.h"
#include "step15_barnes_hut/tree.h"
#include "step15c_clouds/clouds.h"
#include "step15d_series/expansion.h"
#include "step15e_latency/group.h"

namespace {

using namespace nbody;
using namespace tree;
using namespace expansion;
using namespace group;
using motion::KickAndDrift;

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
// Several warps divide the stack once it has this many nodes, or after this many rounds.
constexpr int kEnough = TUNABLE(ENOUGH, 64);
constexpr int kRounds = 16;
constexpr int kListed = TUNABLE(LISTED, 1536);  // the most nodes that a large group's walk lists
constexpr int kRefill = kStack / 2;             // listed nodes that a stack starts with
static_assert(kLarge<3> % kGroup == 0 && kShare<3> <= 32 && kRefill + kDepth + 32 <= kStack);
static_assert(32 * (kRounds + 2) <= kListed, "the list is not full before warps divide the stack");
// Results of the first walk through one part of the tree; groups of 32 bodies continue from them.
template <int kOrder>
struct LargeGroup {
  float3 middle;
  float unit;
  int count;
  Series<kOrder> series;
  int listed[kListed + kStack];
};

// As in step 15e, but the bound is lower for orders 4 and 5, with which most of the error is that
// of series.
template <int kOrder, bool kQuadrupole>
struct FarNodes : Expansion<kOrder, kQuadrupole> {
  struct Head {
    float4 centre;
    float mass;
    float spread;  // the sum of m u^2 over its bodies, at distances u from its centre
    int left, right;

    static __device__ Head of(const Node& node) {
      const float4 s = node.squares;
      return {node.centre, s.w, (s.x + s.y + s.z) / 3, node.left, node.right};
    }
  };
  __device__ float radius_of(const Head& node) const { return this->theta * sqrtf(node.centre.w); }
  // Returns q, for which the sum of m u^k over a node's bodies is at most q m r^k for k >= 2. Most
  // nodes have a small q.
  __device__ float concentration(const Head& node) const {
    const float r = radius_of(node), most = node.mass * r * r;
    return kOrder > 3 && most > 1e-30f ? node.spread / most : 1;  // not if the sum underflows
  }
  __device__ float weight(const Head& node) const { return node.mass * concentration(node); }
  // If q is known, t^p with p = kOrder + 1 becomes the sum of binomial(p, k) B_k r_group^(p - k) /
  // R^p with B_0 = 1, B_1 = 0, B_k = q r^k (Dehnen, Computational Astrophysics and Cosmology 1:1,
  // 2014). A NaN opens the node.
  __device__ bool covers(const Head& node, float bound) const {
    const float3 d = this->middle - xyz(node.centre);
    const float square = dot(d, d), share = rsqrtf(square), r = radius_of(node);
    const float both = (r + this->radius) * share, ratio = r * share, q = concentration(node);
    float next = both * both;
    for (int n = 2; n < kOrder + 1; ++n) next *= both;
    if constexpr (kOrder > 3) {
      const float wide = this->radius * share;
      float power = wide * wide;
      for (int n = 3; n < kOrder + 1; ++n) power *= wide;
      next = q * (next - (kOrder + 1) * ratio * power) + (1 - q) * wide * power;
    }
    next *= kTail / ((1 - both) * (1 - both));
    const float neglected = next + q * ratio * ratio * (kQuadrupole ? ratio : 1);
    return both < kConverges && node.mass / square * neglected < bound;
  }
};

// A stack that several warps share out: each begins with the same nodes, and keeps its part of them
// once there are enough.
struct DividedStack : Stack {
  int part, parts;
  bool divided;
  int rounds = 0;

  __device__ int take() {
    if (!divided && (size >= kEnough || rounds++ == kRounds)) divide();
    return Stack::take();
  }
  // Keeps the nodes with the numbers part, part + parts, ...
  __device__ void divide() {
    for (int begin = 0; begin < size; begin += 32 * parts) {
      const int from = begin + lane() * parts + part, number = from < size ? nodes[from] : 0;
      __syncwarp();  // these nodes have been read before any are overwritten
      if (from < size) nodes[begin / parts + lane()] = number;
    }
    __syncwarp();  // no lane may read the kept nodes before all of them are in place
    size = (size - part + parts - 1) / parts;
    divided = true;
  }
};

// The first walk, kParts warps per large group.
template <int kOrder, bool kQuadrupole>
__global__ void __launch_bounds__(32, kWarpsPerSm<kOrder>)
    see_far(const Node* __restrict__ nodes, int root, const Box* __restrict__ cube,
            const Position* __restrict__ bodies, const float* __restrict__ weakest, int n,
            float theta, float softening_squared, float tolerance,
            LargeGroup<kOrder>* __restrict__ large_groups) {
  __shared__ int nodes_to_see[kStack], waiting[64];
  LargeGroup<kOrder>& large = large_groups[blockIdx.x];
  const int first = blockIdx.x / kParts<kOrder> * kShare<kOrder>;  // the first group of 32 bodies
  const int part = blockIdx.x % kParts<kOrder>;
  const auto number_of = [&](int k) { return min((first + k) * kGroup + lane(), n - 1); };
  Box box = BoxOf()(bodies[number_of(0)]);
  for (int k = 1; k < kShare<kOrder>; ++k) box = BoxAround()(box, BoxOf()(bodies[number_of(k)]));
  const float strength = weakest[min(first + lane() % kShare<kOrder>, (n - 1) / kGroup)];
  const float bound = tolerance * -largest_of_warp(-strength);  // that of the smallest |a|
  box = {box_of_warp(box.low).low, box_of_warp(box.high).high};
  const float3 middle = middle_of(box);
  float radius = 0;
  for (int k = 0; k < kShare<kOrder>; ++k)
    radius = fmaxf(radius, length(xyz(bodies[number_of(k)]) - middle));
  radius = largest_of_warp(radius);

  FarNodes<kOrder, kQuadrupole> far{
      {nodes, middle, radius, theta, unit_of(radius, *cube), softening_squared, waiting}};
  using Head = typename FarNodes<kOrder, kQuadrupole>::Head;
  int count = 0;
  if (lane() == 0) nodes_to_see[0] = root;
  DividedStack stack{{nodes_to_see, 1}, part, kParts<kOrder>, kParts<kOrder> == 1};
  walk_down<Head>(
      nodes, stack,
      [&](const Head& node, bool mine) {
        if (!mine) return Fate::none;
        const bool acts = stack.divided || part == 0;  // until then all parts do the same
        if (far.covers(node, bound)) return acts ? Fate::expanded : Fate::none;
        // The larger of the two is divided: the node, or this group into its parts.
        const bool is_smaller = theta * theta * node.centre.w < radius * radius;
        if (node.right >= 0 && !is_smaller) return Fate::opened;
        return acts ? Fate::listed : Fate::none;
      },
      [&](Fate fate, int number) {
        far.take(fate == Fate::expanded, number);
        const unsigned listed = __ballot_sync(kAllLanes, fate == Fate::listed);
        if (fate == Fate::listed) large.listed[count + rank_among(listed)] = number;
        count += __popc(listed);
        return count <= kListed - 32;
      });
  // If the list is full, the groups continue from the nodes that are still on the stack.
  for (int k = lane(); k < stack.size; k += 32) large.listed[count + k] = nodes_to_see[k];
  far.finish();
  if (lane() != 0) return;
  large.series = far.series;
  large.middle = middle;
  large.unit = far.unit;
  large.count = count + stack.size;
}

// Moves the bodies by the forces of the tree, one lane per sorted body.
template <int kOrder, bool kQuadrupole>
__global__ void __launch_bounds__(32, kWarpsPerSm<kOrder>)
    advance(const Node* __restrict__ nodes, const Box* __restrict__ cube,
            const Position* __restrict__ bodies, const float* __restrict__ weakest,
            const LargeGroup<kOrder>* __restrict__ large_groups, const int* __restrict__ order,
            KickAndDrift move, int n, float theta, float softening_squared, float tolerance) {
  __shared__ Waiting waiting;
  const LargeGroup<kOrder>* const large =
      large_groups + blockIdx.x / kShare<kOrder> * kParts<kOrder>;  // the group's parts
  const int i = blockIdx.x * kGroup + lane();
  const Position body = bodies[min(i, n - 1)];
  const Box box = box_of_warp(xyz(body));
  const float bound = tolerance * weakest[blockIdx.x];
  const float3 middle = middle_of(box);
  const float radius = largest_of_warp(length(xyz(body) - middle)), unit = unit_of(radius, *cube);
  Group<FarNodes<kOrder, kQuadrupole>, kQuadrupole> mine{
      {{nodes, middle, radius, theta, unit, softening_squared, waiting.far}},
      bodies,
      waiting,
      body,
      box,
      bound};
  for (int part = 0; part < kParts<kOrder>; ++part) {
    for (int done = 0; done < large[part].count; done += kRefill) {
      const int size = min(large[part].count - done, kRefill);
      for (int k = lane(); k < size; k += 32) waiting.nodes[k] = large[part].listed[done + k];
      mine.walk_from(size);
    }
  }
  float3 a = mine.finish();
  Series<kOrder> all = large[0].series;
  for (int part = 1; part < kParts<kOrder>; ++part)
    for (int k = 0; k < all.kTerms; ++k) all.of[k] += large[part].series.of[k];
  a = a + all.at(xyz(body) - large[0].middle, large[0].unit);
  if (i >= n) return;
  move(order[i], a, body.w);
}

// Estimates the forces on sorted bodies. The clouds need no nodes, so a second stream computes them
// while few warps are busy with the tree's nodes.
class Estimate {
 public:
  explicit Estimate(int n) : n_(n), weakest_((n - 1) / kGroup + 1), clouds_(clouds::kClouds) {}

  void begin(const Position* bodies, float softening_squared) {
    sorted_.record();
    CUDA_CHECK(cudaStreamWaitEvent(stream_.get(), sorted_.get()));
    clouds::estimate(bodies, n_, softening_squared, clouds_.get(), weakest_.get(), stream_.get());
    estimated_.record(stream_.get());
  }
  // Returns the smallest |a| of each group, for kernels that are launched after this call.
  const float* weakest() const {
    CUDA_CHECK(cudaStreamWaitEvent(nullptr, estimated_.get()));
    return weakest_.get();
  }

 private:
  int n_;
  DeviceArray<float> weakest_;
  DeviceArray<clouds::Cloud> clouds_;
  Stream stream_{cudaStreamNonBlocking};  // the default stream does not wait for it
  Event sorted_, estimated_;
};

template <int kOrder, bool kQuadrupole>
Timing simulate_with(const Run& run, Systems& systems) {
  const int n = systems.bodies_per_system;
  const float theta = run.approximation.theta;
  const float tolerance = allowed(run.approximation, kOrder);
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
      const float* const weakest = estimate.weakest();
      see_far<kOrder, kQuadrupole><<<large * kParts<kOrder>, 32>>>(
          tree.nodes.get(), tree.root(), tree.cube.get(), tree.bodies.get(), weakest, n, theta,
          run.softening_squared, tolerance, large_groups.get());
      advance<kOrder, kQuadrupole><<<groups, 32>>>(
          tree.nodes.get(), tree.cube.get(), tree.bodies.get(), weakest, large_groups.get(),
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
  return nbody::step_main(
      {.name = "step16_fmm",
       .parent = "step15e_latency",
       .summation = nbody::Summation::tiled,
       .approximation = {{.theta = 1, .force_tolerance = 0.005f, .order = 3}},
       .boundaries = {tree::kLeafSize, kGroup, kLarge<4>, kLarge<3>, 32 * clouds::kClouds}},
      simulate, argc, argv);
}
