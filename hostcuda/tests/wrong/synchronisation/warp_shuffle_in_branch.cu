#include <cstdio>
__global__ void sum(const float* x, float* total, int n) {
  int i = threadIdx.x;
#ifdef FIXED
  float v = i < n ? x[i] : 0;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  if (i == 0) *total = v;
#else
  if (i < n) {
    float v = x[i];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);  // BUG
    if (i == 0) *total = v;
  }
#endif
}
int main() {
  float h[20], r, *x, *total;
  for (float& f : h) f = 1;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&total, sizeof r);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  sum<<<1, 32>>>(x, total, 20);
  cudaMemcpy(&r, total, sizeof r, cudaMemcpyDeviceToHost);
  printf("%f\n", r);
  cudaFree(x);
  cudaFree(total);
}
