// The host reads pinned memory before the asynchronous copy into it is done.
#include <cstdio>

__global__ void fill(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 1.0f;
}

int main() {
  const int n = 1000;
  float *x = nullptr, *host = nullptr;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMallocHost(&host, n * sizeof(float));
  cudaMalloc(&x, n * sizeof(float));
  fill<<<(n + 255) / 256, 256, 0, stream>>>(x, n);
  cudaMemcpyAsync(host, x, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
  std::printf("%g\n", host[0]);
  cudaStreamSynchronize(stream);
  cudaFree(x);
  cudaFreeHost(host);
  cudaStreamDestroy(stream);
}
