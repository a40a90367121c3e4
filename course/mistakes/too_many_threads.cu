// A block of 2048 threads, and no check whether the launch failed.
#include <cstdio>
#include <vector>

__global__ void fill(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 1.0f;
}

int main() {
  const int n = 2048;
  std::vector<float> host(n);
  float* x = nullptr;
  cudaMalloc(&x, n * sizeof(float));
  fill<<<1, n>>>(x, n);
  cudaMemcpy(host.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(x);
  std::printf("%g\n", host[0]);
}
