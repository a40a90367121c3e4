// All threads add to one sum without an atomic: updates are lost.
#include <cstdio>
#include <vector>

__global__ void add_up(const float* x, int n, float* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) *sum += x[i];
}

int main() {
  const int n = 1000;
  std::vector<float> host(n, 1.0f);
  float *x = nullptr, *sum = nullptr, result = 0.0f;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&sum, sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(sum, 0, sizeof(float));
  add_up<<<(n + 255) / 256, 256>>>(x, n, sum);
  cudaMemcpy(&result, sum, sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(sum);
  std::printf("%g\n", result);
}
