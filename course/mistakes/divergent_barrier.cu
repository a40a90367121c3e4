// The barrier is inside the guard: not all threads of the block reach it.
#include <cstdio>
#include <vector>

__global__ void smooth(const float* x, float* y, int n) {
  __shared__ float tile[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    tile[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = 0.5f * (tile[threadIdx.x] + tile[(threadIdx.x + 1) % 256]);
  }
  __syncthreads();
}

int main() {
  const int n = 1000;
  std::vector<float> host(n, 1.0f);
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  smooth<<<(n + 255) / 256, 256>>>(x, y, n);
  cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  std::printf("%g\n", host[0]);
}
