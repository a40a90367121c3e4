#include <cstdio>
#include <vector>
__global__ void scale(float* x, int n, float f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
  if (i < n) x[i] *= f;
#else
  if (i <= n) x[i] *= f;  // BUG
#endif
}
int main() {
  const int n = 1000;
  std::vector<float> h(n, 2.0f);
  float* d;
  cudaMalloc(&d, n * sizeof(float));
  cudaMemcpy(d, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  scale<<<(n + 255) / 256, 256>>>(d, n, 3.0f);
  cudaMemcpy(h.data(), d, n * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%f\n", h[999]);
  cudaFree(d);
}
