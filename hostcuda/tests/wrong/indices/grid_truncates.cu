#include <cstdio>
#include <vector>
__global__ void square(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i] * a[i];
}
int main() {
  const int n = 1000, block = 256;
  std::vector<float> h(n, 3);
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMemcpy(a, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
#ifdef FIXED
  square<<<(n + block - 1) / block, block>>>(a, b, n);
#else
  square<<<n / block, block>>>(a, b, n);  // BUG
#endif
  cudaMemcpy(h.data(), b, n * sizeof(float), cudaMemcpyDeviceToHost);  // BUG
  printf("%f\n", h[999]);
  cudaFree(a);
  cudaFree(b);
}
