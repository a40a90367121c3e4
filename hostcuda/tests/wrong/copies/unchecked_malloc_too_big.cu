#include <cstdio>
__global__ void touch(char* x) { x[threadIdx.x] = 1; }  // BUG
int main() {
  char* x;
#ifdef FIXED
  size_t bytes = 1 << 20;
#else
  size_t bytes = (size_t)1 << 50;
#endif
  cudaMalloc(&x, bytes);  // BUG
  touch<<<1, 32>>>(x);
  char h = 0;
  cudaMemcpy(&h, x, 1, cudaMemcpyDeviceToHost);
  printf("%d\n", h);
  cudaFree(x);
}
