#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>

#include <cstdio>
int main() {
  int h[64], *x;
  for (int i = 0; i < 64; ++i) h[i] = (i * 37) % 64;
  cudaMalloc(&x, sizeof h);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
#ifdef FIXED
  thrust::sort(thrust::device, x, x + 64);
#else
  thrust::sort(x, x + 64);  // BUG
#endif
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(x);
}
