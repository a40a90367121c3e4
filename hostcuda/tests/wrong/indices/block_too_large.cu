#include <cstdio>
__global__ void init(int* m, int w) { m[threadIdx.y * w + threadIdx.x] = 1; }
int main() {
  static int h[64 * 64];
  int* d;
  cudaMalloc(&d, sizeof h);
  cudaMemset(d, 0, sizeof h);
#ifdef FIXED
  for (int part = 0; part < 4; ++part) init<<<1, dim3(64, 16)>>>(d + part * 16 * 64, 64);
#else
  init<<<1, dim3(64, 64)>>>(d, 64);  // BUG
#endif
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[100]);
  cudaFree(d);
}
