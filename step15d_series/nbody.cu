// step15d_series -- a distant node acts on a group's Taylor series, not on each of its bodies.
//
// In step 15c a distant node's force is computed for each of 32 bodies, which from afar are almost
// one point. Here a node that is far enough is added to a series around the group's middle
// (series.h); expansion.h decides which nodes are. Each body evaluates the series once, at the end.
//
// Parent: step15c_clouds. Run: step15d_series --scenario plummer --bodies 1048576 --steps 5
#include "nbody/step.h"
#include "nbody/timeline.h"
#include "nbody/transfer.h"
#include "step15_barnes_hut/attraction.h"
#include "step15_barnes_hut/motion.h"
#include "step15_barnes_hut/tree.h"
#include "step15c_clouds/clouds.h"
#include "step15d_series/expansion.h"

namespace {

using namespace nbody;
using namespace tree;
using namespace expansion;
using gravity::attraction;
using motion::KickAndDrift;

constexpr int kGroup = 32;                   // bodies of a warp; a block is one warp
constexpr int kStack = TUNABLE(STACK, 512);  // nodes on the stack
// The bodies of a node share more bits (of keys, then of indices) than its parent's bodies, so
// opening one node at a time never takes more stack than this.
constexpr int kDepth = 3 * kCoordinateBits + 32;
// If a group's box is this many times as wide as the distance at which a node is accepted, the node
// may be in the box but far from all bodies, which are near the faces. Then each body is tested.
constexpr float kWide = 8;

// Moves the bodies by the forces of the tree, one lane per sorted body.
template <int kOrder, bool kQuadrupole>
__global__ void __launch_bounds__(32)
    advance(const Node* __restrict__ nodes, int root, const Box* __restrict__ cube,
            const Position* __restrict__ bodies, const int* __restrict__ order,
            const float* __restrict__ weakest, KickAndDrift move, int n, float theta,
            float softening_squared, float tolerance) {
  __shared__ int stack[kStack], waiting[64];
  __shared__ float4 tile[3][32];
  const int i = blockIdx.x * kGroup + lane();
  const Position body = bodies[min(i, n - 1)];
  const Box box = box_of_warp(xyz(body));
  const float3 width = 1 / kWide * (box.high - box.low);
  const float bound = tolerance * weakest[blockIdx.x];
  const float3 middle = middle_of(box);
  const float radius = largest_of_warp(length(xyz(body) - middle)), unit = unit_of(radius, *cube);
  Expansion<kOrder, kQuadrupole> far{nodes,  middle, radius, theta, unit, softening_squared,
                                     waiting};

  float3 a{};
  int size = 1;  // number of nodes on the stack
  if (lane() == 0) stack[0] = root;
  __syncwarp();  // no lane may read the stack before the root is there
  while (size > 0) {
    // Lanes take one node each from the top, but fewer lanes do if the children might not fit.
    const int taken = min(min(size, 32), max(kStack - kDepth - size, 1));
    size -= taken;
    const bool mine = lane() < taken;
    const int number = stack[size + min(lane(), taken - 1)];
    const Node& node = nodes[number];
    // The whole node is loaded at once: a second wait would cost more than the bytes.
    const float4 centre = node.centre, s = node.squares, p = node.products;
    const int left = node.left, right = node.right;
    const bool expanded = mine && far.covers(centre, s.w, bound);
    bool accepted = mine && !expanded && far.acts_as_a_whole(centre, s.w, box, bound);
    const bool doubtful = mine && !expanded && !accepted && centre.w < dot(width, width);
    for (unsigned asked = __ballot_sync(kAllLanes, doubtful); asked != 0; asked &= asked - 1) {
      const int holder = __ffs(asked) - 1;
      const Node& other = nodes[__shfl_sync(kAllLanes, number, holder)];
      accepted |= __all_sync(kAllLanes, far.acts_as_a_whole(other.centre, other.squares.w,
                                                            BoxOf()(body), bound)) &&
                  lane() == holder;
    }
    const bool refused = mine && !expanded && !accepted;
    const unsigned whole = __ballot_sync(kAllLanes, accepted);
    const unsigned opened = __ballot_sync(kAllLanes, refused && right >= 0);
    unsigned leaves = __ballot_sync(kAllLanes, refused && right < 0);
    __syncwarp();  // all lanes read the stack and the tile before any lane writes
    if (refused && right >= 0) {
      int* const children = stack + size + 2 * rank_among(opened);
      children[0] = left;
      children[1] = right;
    }
    size += 2 * __popc(opened);
    if (accepted) {
      const int place = rank_among(whole);
      tile[0][place] = {centre.x, centre.y, centre.z, s.w};
      tile[1][place] = s;
      tile[2][place] = {p.x, p.y, p.z, -0.5f * (s.x + s.y + s.z)};
    }
    far.take(expanded, number);  // its barrier also protects the tile
    float3 partial{};
    for (int j = 0; j < __popc(whole); ++j) {
      partial = partial + (kQuadrupole ? attraction(tile[0][j], tile[1][j], tile[2][j], body,
                                                    softening_squared)
                                       : attraction(tile[0][j], body, softening_squared));
    }
    for (; leaves != 0; leaves &= leaves - 1) {
      const int holder = __ffs(leaves) - 1;
      const int first = __shfl_sync(kAllLanes, left, holder);
      const int count = -__shfl_sync(kAllLanes, right, holder);
      __syncwarp();  // all lanes are done with the old tile
      if (lane() < count) tile[0][lane()] = bodies[first + lane()];
      __syncwarp();  // the new tile has been written
#pragma unroll 4
      for (int j = 0; j < count; ++j)
        partial = partial + attraction(tile[0][j], body, softening_squared);
    }
    a = a + partial;  // adding partial sums loses fewer digits
  }
  far.finish();
  a = a + far.series.at(xyz(body) - middle, unit);
  if (i < n) move(order[i], a, body.w);
}

// The kernels of orders 2 to 5: with masses only, and with quadrupoles.
constexpr decltype(&advance<3, true>) kKernels[][2] = {{advance<2, false>, advance<2, true>},
                                                       {advance<3, false>, advance<3, true>},
                                                       {advance<4, false>, advance<4, true>},
                                                       {advance<5, false>, advance<5, true>}};

Timing simulate(const Run& run, Systems& systems) {
  const int n = systems.bodies_per_system, groups = (n - 1) / kGroup + 1;
  const int series_order = run.approximation.order.value_or(3);
  const float theta = run.approximation.theta, bound = allowed(run.approximation, series_order);
  const auto kernel = kKernels[series_order - 2][run.approximation.multipole == 2];
  DeviceArray<float4> positions(systems.bodies.size()), velocities(systems.bodies.size());
  const DeviceArray<clouds::Cloud> clouds(clouds::kClouds);
  const DeviceArray<float> weakest(groups);  // the smallest |a| of each group
  Tree tree{n};
  const Transfer transfer(systems.bodies);
  StageTimer timer;
  transfer.upload(positions.get(), velocities.get());
  timer.uploaded();
  for (int s = 0; s < systems.count; ++s) {  // one by one, because they share the tree's memory
    const std::size_t first = static_cast<std::size_t>(s) * n;
    const KickAndDrift move{positions.get() + first, velocities.get() + first, run.dt};
    for (int step = 0; step < run.steps; ++step) {
      tree.build(move.positions, theta, step, run.approximation.rebuild_every.value_or(1));
      clouds::estimate(tree.bodies.get(), n, run.softening_squared, clouds.get(), weakest.get());
      kernel<<<groups, 32>>>(tree.nodes.get(), tree.root(), tree.cube.get(), tree.bodies.get(),
                             tree.order.get(), weakest.get(), move, n, theta, run.softening_squared,
                             bound);
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
  return nbody::step_main({.name = "step15d_series",
                           .parent = "step15c_clouds",
                           .summation = nbody::Summation::tiled,
                           .approximation = {{.theta = 1, .force_tolerance = 0.005f, .order = 3}},
                           .largest_group = kGroup,
                           .boundaries = {tree::kLeafSize, kGroup}},
                          simulate, argc, argv);
}
