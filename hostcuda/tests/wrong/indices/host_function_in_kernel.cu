#include <cstdio>
#ifdef FIXED
__host__ __device__
#endif
    float
    clampf(float x) {
  return x < 0 ? 0 : x;
}
__global__ void relu(float* x) { x[threadIdx.x] = clampf(x[threadIdx.x]); }  // BUG
int main() {
  float h[32], *x;
  for (int i = 0; i < 32; ++i) h[i] = i - 16;
  cudaMalloc(&x, sizeof h);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  relu<<<1, 32>>>(x);
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
  printf("%f\n", h[0]);
  cudaFree(x);
}
