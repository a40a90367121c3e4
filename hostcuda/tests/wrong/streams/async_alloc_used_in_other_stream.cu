#include <cstdio>
__global__ void fill(int* x) { x[threadIdx.x] = 7; }
int main() {
  int h[32], *x;
  cudaStream_t a, b;
  cudaEvent_t ready;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaEventCreate(&ready);
  cudaMallocAsync(&x, sizeof h, a);
  cudaEventRecord(ready, a);
#ifdef FIXED
  cudaStreamWaitEvent(b, ready, 0);
#endif
  fill<<<1, 32, 0, b>>>(x);  // BUG
  cudaStreamSynchronize(b);
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFreeAsync(x, b);
  cudaStreamSynchronize(b);
  cudaEventDestroy(ready);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
}
