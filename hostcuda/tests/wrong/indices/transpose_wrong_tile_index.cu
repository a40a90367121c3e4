#include <cstdio>
const int n = 64, tile = 16;
__global__ void transpose(const float* in, float* out) {
  __shared__ float t[tile][tile + 1];
  int x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
  t[threadIdx.y][threadIdx.x] = in[y * n + x];  // BUG
#ifdef FIXED
  __syncthreads();
#endif
  x = blockIdx.y * tile + threadIdx.x;
  y = blockIdx.x * tile + threadIdx.y;
  out[y * n + x] = t[threadIdx.x][threadIdx.y];  // BUG
}
int main() {
  static float h[n * n];
  float *a, *b;
  for (int i = 0; i < n * n; ++i) h[i] = i;
  cudaMalloc(&a, sizeof h);
  cudaMalloc(&b, sizeof h);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  transpose<<<dim3(n / tile, n / tile), dim3(tile, tile)>>>(a, b);
  cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
  printf("%f\n", h[1]);
  cudaFree(a);
  cudaFree(b);
}
