#include <cstdio>
__global__ void add(int* sum, const int* part) { sum[threadIdx.x] += part[threadIdx.x]; }
int main() {
  int *pinned, *part, *sum, h[32];
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaMallocHost(&pinned, sizeof h);
  cudaMalloc(&part, sizeof h);
  cudaMalloc(&sum, sizeof h);
  cudaMemset(sum, 0, sizeof h);
  cudaDeviceSynchronize();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 32; ++i) pinned[i] = round;  // BUG
    cudaMemcpyAsync(part, pinned, sizeof h, cudaMemcpyHostToDevice, s);
    add<<<1, 32, 0, s>>>(sum, part);
#ifdef FIXED
    cudaStreamSynchronize(s);
#endif
  }
  cudaStreamSynchronize(s);
  cudaMemcpy(h, sum, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFreeHost(pinned);
  cudaFree(part);
  cudaFree(sum);
  cudaStreamDestroy(s);
}
