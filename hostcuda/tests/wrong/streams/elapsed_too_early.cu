// The time is asked for before the second event has happened.
#include <cstdio>
__global__ void spin(float* x) {
  float v = x[threadIdx.x];
  for (int i = 0; i < 1000; ++i) v = v * 0.5f + 1;
  x[threadIdx.x] = v;
}
int main() {
  float* x;
  cudaMalloc(&x, 1024);
  cudaMemset(x, 0, 1024);
  cudaEvent_t a, b;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  cudaEventRecord(a);
  spin<<<1, 256>>>(x);
  cudaEventRecord(b);
#ifdef FIXED
  cudaEventSynchronize(b);
#endif
  float ms = 0;
  cudaEventElapsedTime(&ms, a, b);  // BUG
  printf("%s\n", ms >= 0 ? "took a while" : "?");
  float h[256];
  cudaMemcpy(h, x, 1024, cudaMemcpyDeviceToHost);
  printf("%f\n", h[3]);
  cudaEventDestroy(a);
  cudaEventDestroy(b);
  cudaFree(x);
}
