// Mistakes of the threads of a block, a warp or a cluster with each other.
#ifndef HOSTCUDA_TESTS_FINDINGS_GROUP_BUGS_H
#define HOSTCUDA_TESTS_FINDINGS_GROUP_BUGS_H

#include <cooperative_groups.h>

#include "seeded.h"

namespace seeded {

__global__ void pairs_write_one_slot(int* out, bool wrong) {
  __shared__ int slots[kThreads];
  const int t = static_cast<int>(threadIdx.x), slot = wrong ? t / 2 : t;
  // BUG two_write_one_slot
  slots[slot] = t;
  __syncthreads();
  out[t] = slots[slot];
}
inline void two_write_one_slot(bool wrong) {
  const Buffer<int> out(kThreads);
  pairs_write_one_slot<<<1, kThreads>>>(out.data, wrong);
}

__global__ void half_a_warp_waits(int* out, bool wrong) {
  // BUG syncwarp_in_a_branch
  if (!wrong || threadIdx.x < 16) __syncwarp();
  __syncthreads();
  out[threadIdx.x] = 1;
}
inline void syncwarp_in_a_branch(bool wrong) {
  const Buffer<int> out(32);
  half_a_warp_waits<<<1, 32>>>(out.data, wrong);
}

__global__ void __cluster_dims__(2) reads_the_neighbours(int* out, int by) {
  __shared__ int tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  const auto cluster = cooperative_groups::this_cluster();
  tile[t] = t;
  cluster.sync();
  const int* const other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
  // BUG past_the_other_blocks_tile
  out[index()] = other[t + by];
  cluster.sync();
}
inline void past_the_other_blocks_tile(bool wrong) {
  const Buffer<int> out(2 * kThreads);
  reads_the_neighbours<<<2, kThreads>>>(out.data, wrong ? 1 : 0);
}

inline const std::vector<Bug>& group_bugs() {
  static const std::vector<Bug> bugs = {
      {"two_write_one_slot", "race", two_write_one_slot},
      {"syncwarp_in_a_branch", "deadlock", syncwarp_in_a_branch},
      {"past_the_other_blocks_tile", "out of bounds", past_the_other_blocks_tile},
  };
  return bugs;
}

}  // namespace seeded

#endif
