// A barrier is missing: threads read a tile that others still write.
#include <cstdio>
#include <vector>

__global__ void reverse(float* x) {
  __shared__ float tile[256];
  tile[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = tile[255 - threadIdx.x];
}

int main() {
  std::vector<float> host(256);
  for (int i = 0; i < 256; ++i) host[i] = i;
  float* x = nullptr;
  cudaMalloc(&x, 256 * sizeof(float));
  cudaMemcpy(x, host.data(), 256 * sizeof(float), cudaMemcpyHostToDevice);
  reverse<<<1, 256>>>(x);
  cudaMemcpy(host.data(), x, 256 * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(x);
  std::printf("%g\n", host[0]);
}
