// The stride of the loop is the block, not the grid: every block counts almost everything.
#include <cstdio>
#include <vector>
__global__ void scale(float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
#ifdef FIXED
       i += blockDim.x * gridDim.x)
    x[i] *= 2;
#else
       i += blockDim.x)
    x[i] *= 2;  // BUG
#endif
}
int main() {
  const int n = 4096;
  std::vector<float> h(n, 1.0f);
  float* d;
  cudaMalloc(&d, n * 4);
  cudaMemcpy(d, h.data(), n * 4, cudaMemcpyHostToDevice);
  scale<<<4, 256>>>(d, n);
  cudaMemcpy(h.data(), d, n * 4, cudaMemcpyDeviceToHost);
  printf("%f\n", h[4000]);
  cudaFree(d);
}
