// step15b_force_aware -- a node is opened for its error in the force, not for its size.
//
// As in step 15, but a warp walks the tree twice: first coarsely, to estimate the forces on its
// bodies, then to open nodes whose first omitted multipole term is not small next to these forces.
//
// Parent: step15_barnes_hut. Run: step15b_force_aware --scenario plummer --bodies 1048576 --steps 5
#include "nbody/step.h"
#include "nbody/timeline.h"
#include "nbody/transfer.h"
#include "step15_barnes_hut/attraction.h"
#include "step15_barnes_hut/motion.h"
#include "step15_barnes_hut/tree.h"

namespace {

using namespace nbody;
using namespace tree;
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
constexpr unsigned kAllLanes = 0xffffffff;

constexpr float kCoarse = 2.25f;     // the coarse walk opens inner nodes whose (r / R)^2 is larger
constexpr float kCancelled = 0.01f;  // a force counts as at least this part of its group's largest

// True if a node acts as one body on all bodies of a box. Let r be the node's radius divided by
// theta, and R the distance of its centre from the box. Then r / R must be small, and so must the
// first omitted multipole term, m / R^2 (r / R)^3 with a quadrupole. A NaN opens the node.
template <bool kQuadrupole, bool kIsCoarse>
__device__ bool acts_as_a_whole(const Node& node, const Box& box, float bound) {
  const float3 c = xyz(node.centre), middle = 0.5f * (box.low + box.high) - c;
  if (kIsCoarse) return node.centre.w < kCoarse * dot(middle, middle) || node.right < 0;
  const float3 d = max(max(box.low - c, c - box.high), {0, 0, 0});
  const float square = dot(d, d), ratio = sqrtf(node.centre.w / square);
  return ratio < 1 && node.squares.w / square * ratio * ratio * (kQuadrupole ? ratio : 1) < bound;
}

// Moves the bodies by the forces of the tree, one lane per sorted body. The coarse walk moves none
// and writes their |a| to `forces`. libnbody has another Motion, which stores the accelerations.
template <bool kQuadrupole, bool kIsCoarse = false, class Motion = KickAndDrift>
__global__ void __launch_bounds__(32)
    advance(const Node* __restrict__ nodes, int root, const Position* __restrict__ bodies,
            const int* __restrict__ order, float* __restrict__ forces, Motion move, int n,
            float softening_squared, float tolerance) {
  __shared__ int stack[kStack];
  __shared__ float4 tile[3][32];
  const int lane = threadIdx.x, i = blockIdx.x * kGroup + lane;
  const unsigned lanes_before = (1u << lane) - 1;
  const Position body = bodies[min(i, n - 1)];
  const Box box = box_of_warp(xyz(body));
  const float3 width = 1 / kWide * (box.high - box.low);
  if (kIsCoarse) softening_squared += 16 * dot(width, width);  // a nearby node is not a point
  const Box range = box_of_warp({kIsCoarse ? 0 : forces[min(i, n - 1)], 0, 0});
  const float bound = tolerance * fmaxf(range.low.x, kCancelled * range.high.x);
  constexpr auto kActs = acts_as_a_whole<kQuadrupole, kIsCoarse>;

  float3 a{};
  int size = 1;  // number of nodes on the stack
  if (lane == 0) stack[0] = root;
  __syncwarp();  // no lane may read the stack before the root is there
  while (size > 0) {
    // Lanes take one node each from the top, but fewer lanes do if the children might not fit.
    const int taken = min(min(size, 32), max(kStack - kDepth - size, 1));
    size -= taken;
    const int number = stack[size + min(lane, taken - 1)];
    const Node& node = nodes[number];
    // The whole node is loaded at once: a second wait would cost more than the bytes.
    const float4 centre = node.centre, s = node.squares, p = node.products;
    const int left = node.left, right = node.right;
    bool accepted = lane < taken && kActs(node, box, bound);
    const bool doubtful = lane < taken && !accepted && centre.w < dot(width, width);
    for (unsigned asked = __ballot_sync(kAllLanes, doubtful); asked != 0; asked &= asked - 1) {
      const int holder = __ffs(asked) - 1;
      const Node& other = nodes[__shfl_sync(kAllLanes, number, holder)];
      accepted |= __all_sync(kAllLanes, kActs(other, BoxOf()(body), bound)) && lane == holder;
    }
    const bool refused = lane < taken && !accepted;
    const unsigned whole = __ballot_sync(kAllLanes, accepted);
    const unsigned opened = __ballot_sync(kAllLanes, refused && right >= 0);
    unsigned leaves = __ballot_sync(kAllLanes, refused && right < 0);
    __syncwarp();  // all lanes read the stack and the tile before any lane writes
    if (refused && right >= 0) {
      int* const children = stack + size + 2 * __popc(opened & lanes_before);
      children[0] = left;
      children[1] = right;
    }
    size += 2 * __popc(opened);
    if (accepted) {
      const int place = __popc(whole & lanes_before);
      tile[0][place] = {centre.x, centre.y, centre.z, s.w};
      tile[1][place] = s;
      tile[2][place] = {p.x, p.y, p.z, -0.5f * (s.x + s.y + s.z)};
    }
    __syncwarp();  // all lanes have written before any lane reads
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
      if (lane < count) tile[0][lane] = bodies[first + lane];
      __syncwarp();  // the new tile has been written
#pragma unroll 4
      for (int j = 0; j < count; ++j)
        partial = partial + attraction(tile[0][j], body, softening_squared);
    }
    a = a + partial;  // adding partial sums loses fewer digits
  }
  if (i >= n) return;
  if (kIsCoarse) forces[i] = norm3df(a.x, a.y, a.z);
  if (!kIsCoarse) move(order[i], a, body.w);
}

Timing simulate(const Run& run, Systems& systems) {
  const int n = systems.bodies_per_system;
  const auto kernel = run.approximation.multipole == 2 ? advance<true> : advance<false>;
  DeviceArray<float4> positions(systems.bodies.size()), velocities(systems.bodies.size());
  const DeviceArray<float> forces(n);
  Tree tree{n};
  const Transfer transfer(systems.bodies);
  StageTimer timer;
  transfer.upload(positions.get(), velocities.get());
  timer.uploaded();
  for (int s = 0; s < systems.count; ++s) {  // one by one, because they share the tree's memory
    const std::size_t first = static_cast<std::size_t>(s) * n;
    const KickAndDrift move{positions.get() + first, velocities.get() + first, run.dt};
    for (int step = 0; step < run.steps; ++step) {
      tree.build(move.positions, run.approximation.theta, step,
                 run.approximation.rebuild_every.value_or(1));
      for (const auto pass : {advance<false, true>, kernel})
        pass<<<(n - 1) / kGroup + 1, 32>>>(
            tree.nodes.get(), tree.root(), tree.bodies.get(), tree.order.get(), forces.get(), move,
            n, run.softening_squared, run.approximation.force_tolerance.value_or(0));
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
  return nbody::step_main({.name = "step15b_force_aware",
                           .parent = "step15_barnes_hut",
                           .summation = nbody::Summation::tiled,
                           .approximation = {{.theta = 1, .force_tolerance = 0.005f}},
                           .tree = {{.leaf = tree::kLeafSize, .group = kGroup}},
                           .boundaries = {tree::kLeafSize, kGroup}},
                          simulate, argc, argv);
}
