#include <cstdio>
#include <vector>
__global__ void histogram(const unsigned char* text, int n, unsigned* bins) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
#ifdef FIXED
    atomicAdd(&bins[text[i] % 16], 1u);
#else
    bins[text[i] % 16]++;  // BUG
#endif
}
int main() {
  const int n = 4096;
  std::vector<unsigned char> h(n);
  for (int i = 0; i < n; ++i) h[i] = i * 7;
  unsigned char* text;
  unsigned *bins, result[16];
  cudaMalloc(&text, n);
  cudaMalloc(&bins, sizeof result);
  cudaMemcpy(text, h.data(), n, cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, sizeof result);
  histogram<<<4, 128>>>(text, n, bins);
  cudaMemcpy(result, bins, sizeof result, cudaMemcpyDeviceToHost);
  printf("%u\n", result[3]);
  cudaFree(text);
  cudaFree(bins);
}
