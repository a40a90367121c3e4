#include <cstdio>
__global__ void scale(float* x, float f) { x[threadIdx.x] *= f; }  // BUG
int main() {
  float h[32], *x;
  cudaMalloc(&x, sizeof h);
#ifdef FIXED
  for (float& v : h) v = 1;
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
#else
  cudaMemset(x, 1, sizeof h);  // BUG
#endif
  scale<<<1, 32>>>(x, 2);
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
  printf("%f\n", h[0]);
  cudaFree(x);
}
