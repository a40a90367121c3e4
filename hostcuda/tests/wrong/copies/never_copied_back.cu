#include <cstdio>
__global__ void twice(int* x) { x[threadIdx.x] *= 2; }
int main() {
  int h[32], *x;
  for (int i = 0; i < 32; ++i) h[i] = i;
  cudaMalloc(&x, sizeof h);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  twice<<<1, 32>>>(x);  // BUG
#ifdef FIXED
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
#else
  cudaDeviceSynchronize();
#endif
  printf("%d\n", h[3]);
  cudaFree(x);
}
