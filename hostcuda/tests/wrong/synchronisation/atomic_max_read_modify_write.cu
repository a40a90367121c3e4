#include <cstdio>
__global__ void largest(const int* x, int* best) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
  atomicMax(best, x[i]);
#else
  if (x[i] > *best) *best = x[i];  // BUG
#endif
}
int main() {
  int h[256], r = -1, *x, *best;
  for (int i = 0; i < 256; ++i) h[i] = (i * 57) % 256;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&best, sizeof r);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  cudaMemcpy(best, &r, sizeof r, cudaMemcpyHostToDevice);
  largest<<<4, 64>>>(x, best);
  cudaMemcpy(&r, best, sizeof r, cudaMemcpyDeviceToHost);
  printf("%d\n", r);
  cudaFree(x);
  cudaFree(best);
}
