#include <cstdio>
__global__ void inc(int* x) { x[threadIdx.x]++; }
int main() {
  int h[32] = {1, 2, 3}, *d;
  cudaMalloc(&d, sizeof h);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  inc<<<1, 32>>>(d);
#ifdef FIXED
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
#else
  cudaMemcpy(d, h, sizeof h, cudaMemcpyDeviceToHost);  // BUG
#endif
  printf("%d\n", h[1]);
  cudaFree(d);
}
