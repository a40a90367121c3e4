#include <cstdio>
__global__ void k(int* x, int n) {
  __shared__ int s[128];
  int i = threadIdx.x;
#ifdef FIXED
  if (i < n) s[i] = x[i];
  __syncthreads();
  if (i < n) x[i] = s[n - 1 - i];
#else
  if (i < n) {
    s[i] = x[i];
    __syncthreads();  // BUG
    x[i] = s[n - 1 - i];
  } else {
    __syncthreads();  // BUG
  }
#endif
}
int main() {
  int h[100], *d;
  for (int i = 0; i < 100; ++i) h[i] = i;
  cudaMalloc(&d, sizeof h);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  k<<<1, 128>>>(d, 100);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(d);
}
