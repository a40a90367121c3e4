// Mistakes in kernels whose blocks wait for each other.
#ifndef HOSTCUDA_TESTS_GANG_BUGS_H
#define HOSTCUDA_TESTS_GANG_BUGS_H

#include <cooperative_groups.h>

#include <string>

namespace gang_bugs {

namespace cg = cooperative_groups;

__global__ void syncs_the_grid(float* out) {
  // BUG grid_sync_in_a_plain_launch
  cg::this_grid().sync();
  out[cg::this_grid().thread_rank()] = 1;
}

__global__ void block_returns_early(float* out, bool wrong) {
  if (wrong && blockIdx.x == 1) return;
  // BUG block_returns_before_grid_sync
  cg::this_grid().sync();
  out[cg::this_grid().thread_rank()] = 1;
}

// Some threads wait at the grid's barrier while the others wait at the cluster's barrier.
__global__ void different_scopes(float* out, bool wrong) {
  // BUG barriers_of_different_scope
  if (!wrong || threadIdx.x % 2) cg::this_grid().sync();
  __syncthreads();
  out[cg::this_grid().thread_rank()] = 1;
}

__global__ void waits_forever(float* out, unsigned* arrived, unsigned wanted) {
  atomicAdd(arrived, 1);
  // BUG cooperative_blocks_wait_forever
  while (atomicAdd(arrived, 0) < wanted) {
  }
  out[cg::this_grid().thread_rank()] = 1;
}

// The second block reads the first block's shared memory at a time when the first block may have
// ended.
__global__ void __cluster_dims__(2) owner_ends_early(float* out, bool wrong) {
  __shared__ float one;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) one = 1;
  cluster.sync();
  if (cluster.block_rank() == 1) __nanosleep(1000);
  // BUG cluster_block_ends_early
  out[blockIdx.x * blockDim.x + threadIdx.x] = *cluster.map_shared_rank(&one, 0);
  if (!wrong) cluster.sync();
}

__global__ void __cluster_dims__(2) maps_what_is_not_shared(float* out, bool wrong) {
  __shared__ float one;
  if (threadIdx.x == 0) one = 1;
  cg::this_cluster().sync();
  float* const pointer = wrong ? out : &one;
  // BUG maps_what_is_not_shared
  const float value = *cg::this_cluster().map_shared_rank(pointer, 0);
  cg::this_cluster().sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

}  // namespace gang_bugs

// Makes two blocks of 64 threads write 1 to `out`. Returns false if there is no such bug.
inline bool run_gang_bug(const std::string& bug, bool corrected, float* out) {
  using namespace gang_bugs;
  bool wrong = !corrected;
  void* arguments[] = {&out, &wrong};
  const dim3 grid(2), block(64);
  if (bug == "grid_sync_in_a_plain_launch") {
    if (wrong)
      syncs_the_grid<<<grid, block>>>(out);
    else
      cudaLaunchCooperativeKernel(syncs_the_grid, grid, block, arguments);
  } else if (bug == "block_returns_before_grid_sync") {
    cudaLaunchCooperativeKernel(block_returns_early, grid, block, arguments);
  } else if (bug == "barriers_of_different_scope") {
    cudaLaunchCooperativeKernel(different_scopes, grid, block, arguments);
  } else if (bug == "cooperative_blocks_wait_forever") {
    unsigned *arrived, wanted = 128 + wrong;
    cudaMalloc(&arrived, sizeof *arrived);
    cudaMemset(arrived, 0, sizeof *arrived);
    void* waiting[] = {&out, &arrived, &wanted};
    cudaLaunchCooperativeKernel(waits_forever, grid, block, waiting);
    cudaDeviceSynchronize();
    cudaFree(arrived);
  } else if (bug == "cluster_block_ends_early") {
    owner_ends_early<<<grid, block>>>(out, wrong);
  } else if (bug == "maps_what_is_not_shared") {
    maps_what_is_not_shared<<<grid, block>>>(out, wrong);
  } else {
    return false;
  }
  return true;
}

#endif
