#include <cstdio>
__constant__ int table[8];
__global__ void look(int* out) { out[threadIdx.x] = table[threadIdx.x]; }
int main() {
  int h[8] = {1, 2, 3, 4, 5, 6, 7, 8}, *out;
  cudaMalloc(&out, sizeof h);
#ifdef FIXED
  cudaMemcpyToSymbol(table, h, sizeof h);
#else
  cudaMemcpy(table, h, sizeof h, cudaMemcpyHostToDevice);  // BUG
#endif
  look<<<1, 8>>>(out);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[2]);
  cudaFree(out);
}
