#include <cstdio>
__global__ void count(const int* x, int* out) {
  __shared__ int c;
#ifdef FIXED
  if (threadIdx.x == 0) c = 0;
  __syncthreads();
#endif
  if (x[threadIdx.x] > 10) atomicAdd(&c, 1);  // BUG
  __syncthreads();
  if (threadIdx.x == 0) *out = c;
}
int main() {
  int h[64], r, *x, *out;
  for (int i = 0; i < 64; ++i) h[i] = i;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&out, sizeof r);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  count<<<1, 64>>>(x, out);
  cudaMemcpy(&r, out, sizeof r, cudaMemcpyDeviceToHost);
  printf("%d\n", r);
  cudaFree(x);
  cudaFree(out);
}
