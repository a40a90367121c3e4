#include <cstdio>
const int width = 80, height = 24;
__global__ void invert(const unsigned char* in, unsigned char* out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = 255 - in[y * width + x];
}
int main() {
  static unsigned char h[width * height];
  unsigned char *a, *b;
  cudaMalloc(&a, sizeof h);
  cudaMalloc(&b, sizeof h);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  dim3 block(8, 8);
#ifdef FIXED
  dim3 grid(width / 8, height / 8);
#else
  dim3 grid(height / 8, width / 8);
#endif
  invert<<<grid, block>>>(a, b);                       // BUG
  cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);  // BUG
  printf("%d\n", h[0]);
  cudaFree(a);
  cudaFree(b);
}
