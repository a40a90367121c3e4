#include <cstdio>
__global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x; }
int main() {
  int h[32] = {}, *d;
  cudaMalloc(&d, sizeof h);
  fill<<<1, 32>>>(d);
#ifdef FIXED
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
#else
  cudaMemcpy(h, d, sizeof h, cudaMemcpyHostToDevice);  // BUG
#endif
  printf("%d\n", h[7]);
  cudaFree(d);
}
