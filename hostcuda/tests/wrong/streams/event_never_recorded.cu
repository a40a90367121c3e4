#include <cstdio>
__global__ void k(int* x) { x[threadIdx.x] = 1; }
int main() {
  int h[32], *x;
  float ms = 0;
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaMalloc(&x, sizeof h);
  cudaEventRecord(start);
  k<<<1, 32>>>(x);
#ifdef FIXED
  cudaEventRecord(stop);
#endif
  cudaEventSynchronize(stop);
  cudaEventElapsedTime(&ms, start, stop);  // BUG
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  cudaFree(x);
}
