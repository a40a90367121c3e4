#include <cooperative_groups.h>

#include <cstdio>
namespace cg = cooperative_groups;
__global__ void two_phases(int* x, int n) {
  cg::grid_group grid = cg::this_grid();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i;
  grid.sync();  // BUG
  if (i == 0) x[0] = x[n - 1];
}
int main() {
  int n = 128, h[128], *x;
  cudaMalloc(&x, sizeof h);
#ifdef FIXED
  void* args[] = {&x, &n};
  cudaLaunchCooperativeKernel((void*)two_phases, dim3(2), dim3(64), args, 0, 0);
#else
  two_phases<<<2, 64> > >(x, n);  // BUG
#endif
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(x);
}
