#include <cstdio>
__global__ void produce(int* x) { x[threadIdx.x] = threadIdx.x; }
__global__ void consume(const int* x, int* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }
int main() {
  int *x, *y, h[64];
  cudaStream_t a, b;
  cudaEvent_t done;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaEventCreate(&done);
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&y, sizeof h);
  produce<<<1, 64, 0, a>>>(x);
  cudaEventRecord(done, a);
#ifdef FIXED
  cudaStreamWaitEvent(b, done, 0);
#endif
  consume<<<1, 64, 0, b>>>(x, y);  // BUG
  cudaStreamSynchronize(b);
  cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[5]);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  cudaEventDestroy(done);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
}
