// step15e_latency -- lanes wait less: nodes are loaded ahead, and leaves fill whole tiles.
//
// In step 15d a warp waits for the nodes of each round, and for each leaf: it loads up to 16 bodies
// into a tile of 32. Here it loads the next round's nodes before it acts on this round's (walk.h),
// and bodies of leaves wait in a queue until they fill the tile.
//
// Parent: step15d_series. Run: step15e_latency --scenario plummer --bodies 1048576 --steps 5
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
using motion::KickAndDrift;

constexpr int kGroup = 32;  // bodies of a warp; a block is one warp

template <int kOrder, bool kQuadrupole>
struct FarNodes : Expansion<kOrder, kQuadrupole> {
  // The part of a node that decides its fate.
  struct Head {
    float4 centre;  // as in the node
    float mass;
    int left, right;

    static __device__ Head of(const Node& node) {
      return {node.centre, node.squares.w, node.left, node.right};
    }
  };
  __device__ float weight(const Head& node) const { return node.mass; }
  __device__ bool covers(const Head& node, float bound) const {
    return Expansion<kOrder, kQuadrupole>::covers(node.centre, node.mass, bound);
  }
};

// Moves the bodies by the forces of the tree, one lane per sorted body.
template <int kOrder, bool kQuadrupole>
__global__ void __launch_bounds__(32)
    advance(const Node* __restrict__ nodes, int root, const Box* __restrict__ cube,
            const Position* __restrict__ bodies, const int* __restrict__ order,
            const float* __restrict__ weakest, KickAndDrift move, int n, float theta,
            float softening_squared, float tolerance) {
  __shared__ group::Waiting waiting;
  const int i = blockIdx.x * kGroup + lane();
  const Position body = bodies[min(i, n - 1)];
  const Box box = box_of_warp(xyz(body));
  const float bound = tolerance * weakest[blockIdx.x];
  const float3 middle = middle_of(box);
  const float radius = largest_of_warp(length(xyz(body) - middle)), unit = unit_of(radius, *cube);
  group::Group<FarNodes<kOrder, kQuadrupole>, kQuadrupole> mine{
      {{nodes, middle, radius, theta, unit, softening_squared, waiting.far}},
      bodies,
      waiting,
      body,
      box,
      bound};
  if (lane() == 0) waiting.nodes[0] = root;
  mine.walk_from(1);
  const float3 a = mine.finish();
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
  return nbody::step_main({.name = "step15e_latency",
                           .parent = "step15d_series",
                           .summation = nbody::Summation::tiled,
                           .approximation = {{.theta = 1, .force_tolerance = 0.005f, .order = 3}},
                           .largest_group = kGroup,
                           .boundaries = {tree::kLeafSize, kGroup}},
                          simulate, argc, argv);
}
