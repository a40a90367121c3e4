// step16b_tree_ranks -- every rank builds the same tree and walks its share of the groups.
//
// A rank per GPU. Every rank holds the positions of all bodies and builds the tree of step 15, so
// no node is sent. Then each rank walks the tree for an equal share of the sorted bodies, and all
// ranks exchange the bodies that they moved. All ranks build the same tree, and a group of bodies
// gets the same forces on any rank, so the bits do not depend on the number of ranks.
//
// Parent: step15_barnes_hut.   Run: mpirun -n 2 step16b_tree_ranks --scenario plummer
#include <optional>

#include "nbody/cluster.h"
#include "step15_barnes_hut/tree.h"

namespace {

__constant__ unsigned first_group;  // of this rank

// The position of a block in the grid of all groups; a rank launches only the blocks of its share.
__device__ uint3 place_of_block() { return {blockIdx.x + first_group, blockIdx.y, blockIdx.z}; }

}  // namespace

// The walk is step 15's, whose block finds its bodies from blockIdx.
#define blockIdx place_of_block()
#define simulate simulate_on_one_rank
#define main main_of_step15
#include "step15_barnes_hut/nbody.cu"
#undef blockIdx
#undef simulate
#undef main

namespace {

using Velocity = float4;

struct Moved {
  Position position;
  Velocity velocity;
};

// Copies the sorted bodies from `first` to `end` that this rank has moved.
__global__ void pack(const Position* __restrict__ positions,
                     const Velocity* __restrict__ velocities, const int* __restrict__ order,
                     Moved* __restrict__ moved, int first, int end) {
  const int k = first + blockIdx.x * kBlockSize + threadIdx.x;
  if (k < end) moved[k] = {positions[order[k]], velocities[order[k]]};
}

// Puts the bodies of all ranks back in the order of the input.
__global__ void unpack(const Moved* __restrict__ moved, const int* __restrict__ order,
                       Position* __restrict__ positions, Velocity* __restrict__ velocities, int n) {
  const int k = blockIdx.x * kBlockSize + threadIdx.x;
  if (k >= n) return;
  positions[order[k]] = moved[k].position;
  velocities[order[k]] = moved[k].velocity;
}

// The groups of 32 sorted bodies that this rank walks. All shares have the same size, because
// all_gather() needs parts of the same size, so the last ranks may have fewer bodies or none.
struct Share {
  int part, first, end;  // bodies per rank; the sorted bodies of this rank

  Share(const Cluster& cluster, int n) {
    const int groups = (n - 1) / kGroup + 1;
    part = ((groups - 1) / cluster.count() + 1) * kGroup;
    first = std::min(n, cluster.rank() * part);
    end = std::min(n, first + part);
  }
  int groups() const { return (end - first + kGroup - 1) / kGroup; }
};

// Sends the root's bodies to all ranks.
template <class T>
void broadcast(Cluster& cluster, DeviceArray<T>& array) {
  std::vector<Message> sent, received;
  if (!cluster.is_root()) received.push_back({0, array.get(), array.bytes()});
  for (int rank = 1; cluster.is_root() && rank < cluster.count(); ++rank)
    sent.push_back({rank, array.get(), array.bytes()});
  cluster.exchange(sent, received);
}

Timing simulate(const Run& run, Systems& systems) {
  Cluster& cluster = nbody::cluster();
  const int n = systems.bodies_per_system;
  const std::size_t all = static_cast<std::size_t>(systems.count) * n;
  const Share share(cluster, n);
  const auto kernel = run.approximation.multipole == 2 ? advance<true> : advance<false>;
  const unsigned first = share.first / kGroup;
  CUDA_CHECK(cudaMemcpyToSymbol(first_group, &first, sizeof first));
  DeviceArray<Position> positions(all);
  DeviceArray<Velocity> velocities(all);
  DeviceArray<Moved> moved(static_cast<std::size_t>(share.part) * cluster.count());
  Tree tree{n};
  std::optional<Transfer<Body>> transfer;  // only the root has bodies
  if (cluster.is_root()) transfer.emplace(systems.bodies);
  StageTimer timer;
  if (transfer) transfer->upload(positions.get(), velocities.get());
  broadcast(cluster, positions);
  broadcast(cluster, velocities);
  timer.uploaded();
  const int blocks = (n - 1) / kBlockSize + 1;
  for (int s = 0; s < systems.count; ++s) {
    Position* const x = positions.get() + static_cast<std::size_t>(s) * n;
    Velocity* const v = velocities.get() + static_cast<std::size_t>(s) * n;
    for (int step = 0; step < run.steps; ++step) {
      tree.build(x, run.approximation.theta, step, run.approximation.rebuild_every.value_or(1));
      if (share.groups() > 0) {
        kernel<<<share.groups(), 32>>>(tree.nodes.get(), tree.root(), tree.bodies.get(),
                                       tree.order.get(), KickAndDrift{x, v, run.dt}, n,
                                       run.softening_squared);
        pack<<<(share.end - share.first - 1) / kBlockSize + 1, kBlockSize>>>(
            x, v, tree.order.get(), moved.get(), share.first, share.end);
      }
      cluster.all_gather(moved.get(), share.part * sizeof(Moved));
      unpack<<<blocks, kBlockSize>>>(moved.get(), tree.order.get(), x, v, n);
      CUDA_CHECK(cudaGetLastError());
    }
  }
  timer.computed();
  if (transfer) transfer->download(positions.get(), velocities.get());
  timer.downloaded();
  return timer.timing();
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::cluster_main({.name = "step16b_tree_ranks",
                              .parent = "step15_barnes_hut",
                              .summation = nbody::Summation::tiled,
                              .approximation = {{.theta = 0.6f, .multipole = 2}},
                              .tree = {{.leaf = tree::kLeafSize, .group = kGroup}},
                              .boundaries = {tree::kLeafSize, kGroup}},
                             simulate, argc, argv);
}
