#include <cstdio>
#ifdef FIXED
__device__ int limit = 10;
#else
int limit = 10;
#endif
__global__ void cap(int* x) {
  if (x[threadIdx.x] > limit) x[threadIdx.x] = limit;  // BUG
}
int main() {
  int h[32], *x;
  for (int i = 0; i < 32; ++i) h[i] = i;
  cudaMalloc(&x, sizeof h);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  cap<<<1, 32>>>(x);
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[31]);
  cudaFree(x);
}
