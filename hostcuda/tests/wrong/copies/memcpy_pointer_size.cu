#include <cstdio>
#include <cstdlib>
__global__ void negate(double* x, int n) {
  int i = threadIdx.x;
  if (i < n) x[i] = -x[i];  // BUG
}
int main() {
  const int n = 64;
  double* h = (double*)malloc(n * sizeof(double));
  for (int i = 0; i < n; ++i) h[i] = i;
  double* d;
  cudaMalloc(&d, n * sizeof(double));
#ifdef FIXED
  cudaMemcpy(d, h, n * sizeof(double), cudaMemcpyHostToDevice);
#else
  cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice);  // BUG
#endif
  negate<<<1, n>>>(d, n);
  cudaMemcpy(h, d, n * sizeof(double), cudaMemcpyDeviceToHost);
  printf("%f\n", h[5]);
  cudaFree(d);
  free(h);
}
