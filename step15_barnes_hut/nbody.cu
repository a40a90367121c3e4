// step15_barnes_hut -- distant bodies act as a group: N log N interactions instead of N^2.
//
// In every time step a tree is built over the bodies (tree.h). A warp takes 32 neighbouring bodies
// and walks the tree with one stack. A node that looks small from all of them acts with its mass
// and quadrupole; other nodes are opened, down to the bodies of a leaf.
//
// Parent: none.   Run: step15_barnes_hut --scenario plummer --bodies 1048576 --steps 5
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

// True if a node acts as one body on all bodies of a box, because its centre is far enough from the
// box's nearest point. The comparison is written so that a NaN opens the node.
__device__ bool acts_as_a_whole(float4 node, const Box& box) {
  const float3 d = max(max(box.low - xyz(node), xyz(node) - box.high), {0, 0, 0});
  return dot(d, d) > node.w;
}

// Moves the bodies by the forces of the tree, one lane per sorted body.
template <bool kQuadrupole>
__global__ void __launch_bounds__(32)
    advance(const Node* __restrict__ nodes, int root, const Position* __restrict__ bodies,
            const int* __restrict__ order, KickAndDrift move, int n, float softening_squared) {
  __shared__ int stack[kStack];
  __shared__ float4 tile[3][32];
  const int lane = threadIdx.x, i = blockIdx.x * kGroup + lane;
  const unsigned lanes_before = (1u << lane) - 1;
  const Position body = bodies[min(i, n - 1)];
  const Box box = box_of_warp(xyz(body));
  const float3 width = 1 / kWide * (box.high - box.low);

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
    bool accepted = lane < taken && acts_as_a_whole(centre, box);
    const bool doubtful = lane < taken && !accepted && centre.w < dot(width, width);
    for (unsigned asked = __ballot_sync(kAllLanes, doubtful); asked != 0; asked &= asked - 1) {
      const int holder = __ffs(asked) - 1;
      const float4 c = nodes[__shfl_sync(kAllLanes, number, holder)].centre;
      accepted |= __all_sync(kAllLanes, acts_as_a_whole(c, BoxOf()(body))) && lane == holder;
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
  move(order[i], a, body.w);
}

Timing simulate(const Run& run, Systems& systems) {
  const int n = systems.bodies_per_system;
  const auto kernel = run.approximation.multipole == 2 ? advance<true> : advance<false>;
  DeviceArray<float4> positions(systems.bodies.size()), velocities(systems.bodies.size());
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
      kernel<<<(n - 1) / kGroup + 1, 32>>>(tree.nodes.get(), tree.root(), tree.bodies.get(),
                                           tree.order.get(), move, n, run.softening_squared);
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
  return nbody::step_main({.name = "step15_barnes_hut",
                           .summation = nbody::Summation::tiled,
                           .approximation = {{.theta = 0.6f, .multipole = 2}},
                           .tree = {{.leaf = tree::kLeafSize, .group = kGroup}},
                           .boundaries = {tree::kLeafSize, kGroup}},
                          simulate, argc, argv);
}
