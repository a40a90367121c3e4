#include <cstdio>
__device__ int counter;
__global__ void compact(const int* x, int* out) {
  int v = x[threadIdx.x];
#ifdef FIXED
  if (v > 0) out[atomicAdd(&counter, 1)] = v;
#else
  if (v > 0) out[counter++] = v;  // BUG
#endif
}
int main() {
  int h[64], n, *x, *out;
  for (int i = 0; i < 64; ++i) h[i] = i % 3 - 1;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&out, sizeof h);
  cudaMemset(out, 0, sizeof h);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  compact<<<1, 64>>>(x, out);
  cudaMemcpyFromSymbol(&n, counter, sizeof n);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d %d\n", n, h[0]);
  cudaFree(x);
  cudaFree(out);
}
