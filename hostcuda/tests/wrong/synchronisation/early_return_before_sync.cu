#include <cstdio>
__global__ void k(const int* x, int* y, int n) {
  __shared__ int s[64];
  int i = threadIdx.x;
#ifdef FIXED
  if (i < n) s[i] = x[i];
  __syncthreads();
  if (i < n) y[i] = s[(i + 1) % n];
#else
  if (i >= n) return;
  s[i] = x[i];
  __syncthreads();  // BUG
  y[i] = s[(i + 1) % n];
#endif
}
int main() {
  int h[50], *x, *y;
  for (int i = 0; i < 50; ++i) h[i] = i;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&y, sizeof h);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  k<<<1, 64>>>(x, y, 50);
  cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(x);
  cudaFree(y);
}
