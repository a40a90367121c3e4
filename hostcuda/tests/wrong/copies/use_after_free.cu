#include <cstdio>
__global__ void step(float* x) { x[threadIdx.x] += 1; }  // BUG
int main() {
  float h[32], *x, *old;
  cudaMalloc(&x, sizeof h);
  cudaMemset(x, 0, sizeof h);
  old = x;
  float* larger;
  cudaMalloc(&larger, 2 * sizeof h);
  cudaMemset(larger, 0, 2 * sizeof h);
  cudaMemcpy(larger, x, sizeof h, cudaMemcpyDeviceToDevice);
  cudaFree(x);
  x = larger;
#ifdef FIXED
  step<<<1, 32>>>(x);
#else
  step<<<1, 32>>>(old);  // BUG
#endif
  (void)old;
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
  printf("%f\n", h[0]);
  cudaFree(x);
}
