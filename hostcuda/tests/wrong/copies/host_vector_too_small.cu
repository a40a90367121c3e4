#include <cstdio>
#include <vector>
__global__ void fill(double* x) { x[threadIdx.x] = 1; }
int main() {
  const int n = 128;
#ifdef FIXED
  std::vector<double> h(n);
#else
  std::vector<double> h(n / 2);
#endif
  double* x;
  cudaMalloc(&x, n * sizeof(double));
  fill<<<1, n>>>(x);
  cudaMemcpy(h.data(), x, n * sizeof(double), cudaMemcpyDeviceToHost);  // BUG
  printf("%f\n", h[0]);
  cudaFree(x);
}
