#include <cstdio>
__global__ void rev(float* x) {
  extern __shared__ float s[];
  s[threadIdx.x] = x[threadIdx.x];  // BUG
  __syncthreads();
  x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
int main() {
  float h[256], *d;
  for (int i = 0; i < 256; ++i) h[i] = i;
  cudaMalloc(&d, sizeof h);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
#ifdef FIXED
  rev<<<1, 256, 256 * sizeof(float)>>>(d);
#else
  rev<<<1, 256, 256>>>(d);  // BUG
#endif
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%f\n", h[0]);
  cudaFree(d);
}
