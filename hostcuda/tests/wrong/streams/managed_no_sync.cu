#include <cstdio>
__global__ void add(int n, const float* x, float* y) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] + y[i];
}
int main() {
  float *x, *y;
  cudaMallocManaged(&x, 256 * sizeof(float));
  cudaMallocManaged(&y, 256 * sizeof(float));
  for (int i = 0; i < 256; ++i) x[i] = 1, y[i] = 2;
  add<<<1, 64>>>(256, x, y);
#ifdef FIXED
  cudaDeviceSynchronize();
#endif
  printf("%f\n", y[10]);  // BUG
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
