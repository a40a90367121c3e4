// The guard is missing: 1000 elements, 1024 threads.
#include <cstdio>
#include <vector>

__global__ void scale(float* x, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] *= factor;
}

int main() {
  const int n = 1000;
  std::vector<float> host(n, 1.0f);
  float* x = nullptr;
  cudaMalloc(&x, n * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  scale<<<(n + 255) / 256, 256>>>(x, n, 2.0f);
  cudaMemcpy(host.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(x);
  std::printf("%g\n", host[n - 1]);
}
