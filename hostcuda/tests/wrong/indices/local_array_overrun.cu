#include <cstdio>
__global__ void digits(const int* x, int* sums) {
#ifdef FIXED
  int d[10] = {};
#else
  int d[9] = {};
#endif
  for (int v = x[threadIdx.x]; v > 0; v /= 10) d[v % 10]++;  // BUG
  int s = 0;
  for (int k = 0; k < 9; ++k) s += d[k] > 0;
  sums[threadIdx.x] = s;
}
int main() {
  int h[32], *x, *sums;
  for (int i = 0; i < 32; ++i) h[i] = 9000 + i;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&sums, sizeof h);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  digits<<<1, 32>>>(x, sums);
  cudaMemcpy(h, sums, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(x);
  cudaFree(sums);
}
