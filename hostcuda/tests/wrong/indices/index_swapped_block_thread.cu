#include <cstdio>
__global__ void iota(int* x, int n) {
#ifdef FIXED
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#else
  int i = blockIdx.x + threadIdx.x;
#endif
  if (i < n) x[i] = i;  // BUG
}
int main() {
  int h[512], *x;
  cudaMalloc(&x, sizeof h);
  iota<<<4, 128>>>(x, 512);                            // BUG
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);  // BUG
  printf("%d\n", h[100]);
  cudaFree(x);
}
