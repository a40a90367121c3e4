// A block of a cluster may end while the other still reads its shared memory.
#include <cooperative_groups.h>

#include <cstdio>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {
  __shared__ int mine[32];
  auto cluster = cg::this_cluster();
  mine[threadIdx.x] = 100 * blockIdx.x + threadIdx.x;
  cluster.sync();
  const int* other = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
  out[blockIdx.x * 32 + threadIdx.x] = other[threadIdx.x];  // BUG
#ifdef FIXED
  cluster.sync();
#endif
}
int main() {
  int *d, h[128];
  cudaMalloc(&d, sizeof h);
  exchange<<<4, 32>>>(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[5]);
  cudaFree(d);
}
