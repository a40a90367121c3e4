#include <cstdio>
__global__ void mark(char* x, int row, int width) {
#ifdef FIXED
  long i = (long)row * width + threadIdx.x;
#else
  int i = row * width + threadIdx.x;  // BUG
#endif
  x[i % 1024 < 0 ? 0 : i % 1024] = 1;
}
int main() {
  char h[1024], *d;
  cudaMalloc(&d, 1024);
  cudaMemset(d, 0, 1024);
  mark<<<1, 32>>>(d, 70000, 50000);
  cudaMemcpy(h, d, 1024, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(d);
}
