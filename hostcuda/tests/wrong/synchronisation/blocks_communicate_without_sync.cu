#include <cstdio>
__global__ void k(int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i;  // BUG
  __syncthreads();
  y[i] = x[(i + 64) % n];  // BUG
}
__global__ void first(int* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i;
}
__global__ void second(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[(i + 64) % n];
}
int main() {
  const int n = 256;
  int h[n], *x, *y;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&y, sizeof h);
#ifdef FIXED
  first<<<4, 64>>>(x);
  second<<<4, 64>>>(x, y, n);
#else
  k<<<4, 64>>>(x, y, n);
#endif
  cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(x);
  cudaFree(y);
}
