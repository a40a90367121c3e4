#include <cstdio>
__global__ void work(int* x) { x[threadIdx.x] = 42; }
int main() {
  int *d, *h;
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaMallocHost(&h, 32 * sizeof(int));
  cudaMalloc(&d, 32 * sizeof(int));
  work<<<1, 32, 0, s>>>(d);
  cudaMemcpyAsync(h, d, 32 * sizeof(int), cudaMemcpyDeviceToHost, s);
#ifdef FIXED
  cudaStreamSynchronize(s);
#endif
  printf("%d\n", h[3]);  // BUG
  cudaDeviceSynchronize();
  cudaFree(d);
  cudaFreeHost(h);
  cudaStreamDestroy(s);
}
