#include <cstdio>
__global__ void best(const int* x, int* out) {
  int m = x[0];
  for (int i = 1; i < 16; ++i) m = max(m, x[i]);
  *out = m;
}
int main() {
  int h[16] = {3, 9, 4}, *x, *out, r = 0;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&out, sizeof(int));
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  best<<<1, 1>>>(x, out);
  cudaDeviceSynchronize();
#ifdef FIXED
  cudaMemcpy(&r, out, sizeof(int), cudaMemcpyDeviceToHost);
#else
  r = *out;  // BUG
#endif
  printf("%d\n", r);
  cudaFree(x);
  cudaFree(out);
}
